// How the scheduler is doing: numbers that move, and curves of the last minutes, hours or day.
import { createMemo, createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api } from '../../api/client';
import { href } from '../../app/router';
import { Button, Chart, Loaded, Sparkline } from '../../design';
import type { Series } from '../../design';
import { compact, count, duration, percent, plural } from '../../logic/format';
import { polled } from '../../state/polled';
import { HeatMap } from './HeatMap';
import { lagQuantile, mergedCounts } from './lag';
import { kLimits, wholeDay } from './limits';
import type { LiveStats } from './live_stats';
import type { Policies, Queues, SchedulerHistory, Span } from './shapes';
import { Tile } from './Tile';

const kSpans: readonly { id: Span; title: string; every: number }[] = [
  { id: '15m', title: '15 min', every: 5_000 },
  { id: '6h', title: '6 h', every: 60_000 },
  { id: '24h', title: '24 h', every: 300_000 },
];
const kMinute = 60;

export function Now(props: { stats: LiveStats }): JSX.Element {
  const [span, setSpan] = createSignal<Span>('15m');
  const every = () => kSpans.find((one) => one.id === span())?.every;
  const history = polled((signal) => api.get<SchedulerHistory>('api/scheduler/history', { query: { span: span() }, signal }), { key: span, every });
  // The course has no budget in it; the one in force now is drawn as a line.
  const policies = polled((signal) => api.get<Policies>('api/scheduler/policies', { signal }), { every: 60_000 });
  const queues = polled((signal) => api.get<Queues>('api/queues', { signal }), { every: 15_000 });
  return (
    <div class="stack">
      <Tiles stats={props.stats} queues={queues.data()} history={span() === '15m' ? history.data() : undefined} />
      <div class="row scheduler-span" role="group" aria-label="Time that the curves show">
        <h2>Over time</h2>
        <span class="spring" />
        <For each={kSpans}>{(one) => <Button dense pressed={span() === one.id} onClick={() => setSpan(one.id)}>{one.title}</Button>}</For>
      </div>
      <Loaded data={history.data()} problem={history.problem()} retry={history.refresh} title="The course of the scheduler could not be loaded" lines={9}>
        {(data) => <Curves history={data()} budget={policies.data()?.budget.polls_per_second} />}
      </Loaded>
    </div>
  );
}

function Tiles(props: { stats: LiveStats; queues: Queues | undefined; history: SchedulerHistory | undefined }): JSX.Element {
  const now = () => props.stats.now();
  const day = createMemo(() => (props.queues ? wholeDay(props.queues.items) : null));
  // Of the last minute; kept when another span is shown.
  const lag = createMemo<number | null>((before) => {
    const history = props.history;
    if (history === undefined) return before;
    const steps = Math.max(1, Math.round(kMinute / history.step));
    return lagQuantile(history.lag_bounds, mergedCounts(history.lag_counts.slice(-steps)), 0.95);
  }, null);
  const number = (value: number | undefined) => (value === undefined ? '–' : count(value));
  const spark = (pick: 'ready' | 'in_flight', label: string) => (
    <Sparkline values={props.stats.past().map((one) => one[pick])} label={label} width={84} height={16} />
  );
  const failures = href('/scheduler', {}, { tab: 'failures' });
  return (
    <div class="scheduler-tiles">
      <Tile title="Queue" value={number(now()?.queue_depth)} note={now() ? `of ${plural(now()?.tasks ?? 0, 'task')} wait for their time or turn` : 'wait for their time or turn'} />
      <Tile title="Ready" value={number(now()?.ready)} href={href('/scheduler', {}, { tab: 'plan' })}>{spark('ready', 'Ready, last minute')}</Tile>
      <Tile title="In flight" value={number(now()?.in_flight)}>{spark('in_flight', 'In flight, last minute')}</Tile>
      <Tile title="Starts" value={props.stats.startRate() === null ? '–' : `${compact(props.stats.startRate())}/s`} note={props.stats.finishRate() === null ? 'over 10 s' : `${compact(props.stats.finishRate())}/s end; over 10 s`} />
      <Tile title="Start lag, p95" value={duration(lag())} limit={kLimits.startLag} measured={lag()} note="from due to start, last minute" />
      <Tile title="Success" value={percent(day()?.success, 2)} limit={kLimits.success} measured={day()?.success} note={<>last 24 h, {plural(day()?.failed ?? 0, 'failure')} of {count(day()?.finished ?? 0)}</>} />
      <Tile title="Mean poll" value={duration(day()?.mean)} limit={kLimits.meanPoll} measured={day()?.mean} note="last 24 h, all classes" />
      <Tile title="Failing" value={number(now()?.failing)} href={failures} note={<Show when={now()}>{(one) => <>{plural(one().breakers, 'breaker')} open, {plural(one().dead_letters, 'dead letter')}</>}</Show>} />
    </div>
  );
}

function Curves(props: { history: SchedulerHistory; budget: number | undefined }): JSX.Element {
  const points = () => props.history.points;
  const times = createMemo(() => points().map((point) => Date.parse(point.at) / 1000));
  const rate = (pick: 'started' | 'finished' | 'failed') => points().map((point) => point[pick] / props.history.step);
  const plain = (pick: 'ready' | 'in_flight' | 'lag_p50' | 'lag_p95') => points().map((point) => point[pick]);
  const budget = (): Series[] => (props.budget === undefined ? [] : [{ label: 'budget now', values: points().map(() => props.budget ?? null), color: 'warn', dashed: true }]);
  return (
    <div class="scheduler-curves">
      <Curve
        title="Start rate"
        label="Runs per second"
        unit="/s"
        times={times()}
        series={[
          { label: 'started', values: rate('started'), area: true },
          { label: 'finished', values: rate('finished'), color: 'series-3', dashed: true },
          { label: 'failed', values: rate('failed'), color: 'bad' },
          ...budget(),
        ]}
      />
      <Curve
        title="Ready and in flight, the most at once"
        label="Ready and in flight"
        times={times()}
        series={[{ label: 'ready', values: plain('ready'), area: true }, { label: 'in flight', values: plain('in_flight'), color: 'series-2' }]}
      />
      <Curve
        title="Start lag"
        label="Start lag"
        unit="s"
        times={times()}
        series={[{ label: 'p95', values: plain('lag_p95'), area: true }, { label: 'p50', values: plain('lag_p50'), color: 'series-3' }]}
      />
      <section class="panel">
        <h3 class="panel-head">Start lag, all starts <span class="muted small">later than {duration(kLimits.startLag.warning)} marked with !</span></h3>
        <HeatMap history={props.history} />
      </section>
    </div>
  );
}

function Curve(props: { title: string; label: string; unit?: string; times: readonly number[]; series: readonly Series[] }): JSX.Element {
  return (
    <section class="panel">
      <h3 class="panel-head">{props.title}</h3>
      <Chart label={props.label} group="scheduler" {...(props.unit ? { unit: props.unit } : {})} times={props.times} series={props.series} />
    </section>
  );
}
