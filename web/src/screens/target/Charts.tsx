// The values of a target over time: one chart per metric, all with the same range, the same instant
// under the pointer and the same zoom. Charts ask for their values when they come into sight.
import { createMemo, createSignal, For, onCleanup, onMount, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { query, setQuery } from '../../app/router';
import { api, path } from '../../api/client';
import { Chart, EmptyState, ErrorState, Loaded, Menu, Skeleton } from '../../design';
import type { ChartMark } from '../../design';
import { serverNow } from '../../logic/clock';
import { duration } from '../../logic/format';
import { fetched } from '../../parts/fetched';
import type { Change } from '../../parts/model';
import { SpanChoice } from '../../parts/StateStrip';
import { targetOf } from '../../state/fleet_book';
import { aligned, bridged, firstRows, kRanges, metricPlan, stepFor } from './history';
import type { AddonMetric, HistoryAnswer, HistoryPoint, MetricPlan } from './history';

const kMostRows = 7;
const kFirstCharts = 8;

export function Charts(props: { target: string; metrics: readonly AddonMetric[]; changes: readonly Change[]; interval: number }): JSX.Element {
  const range = () => kRanges.find((one) => one.id === query('range')) ?? kRanges[0];
  const list = fetched(
    () => props.target,
    async (key, signal) => {
      try {
        return await api.get<HistoryAnswer>(path`api/targets/${key}/history`, { signal });
      } catch (error) {
        // Not yet anything, or a target that keeps no values: that is no failure.
        if ((error as { code?: string }).code?.startsWith('history.')) return { key, more: false, series: [], why: (error as Error).message };
        throw error;
      }
    },
    { every: 60, soonest: 20_000 },
  );
  const series = () => list.data()?.series ?? [];
  const plans = createMemo(() => metricPlan(props.metrics, series()));
  const single = () => plans().filter((one) => one.rows.every((row) => row === ''));
  const tables = () => plans().filter((one) => one.rows.some((row) => row !== ''));
  const rowNames = createMemo(() => [...new Set(tables().flatMap((one) => one.rows))]);
  const [picked, setPicked] = createSignal<readonly string[] | null>(null);
  const rows = createMemo(() => picked() ?? firstRows(series(), 4));
  const [all, setAll] = createSignal(false);
  const toggle = (row: string) => {
    const now = rows();
    setPicked(now.includes(row) ? now.filter((one) => one !== row) : [...now, row].slice(-kMostRows));
  };
  const shown = () => (all() ? tables() : tables().slice(0, kFirstCharts));
  return (
    <section class="stack" aria-label="Values over time">
      <div class="row">
        <h2>Values</h2>
        <span class="spring" />
        <SpanChoice label="Range" spans={kRanges} value={range().id} onChange={(id) => setQuery({ range: id })} />
      </div>
      <Loaded data={list.data()} problem={list.problem()} retry={list.refetch} lines={4}>
        {() => (
          <Show
            when={plans().length > 0}
            fallback={<div class="panel"><EmptyState icon="status" title="No values yet" text="They come with the first polls. Targets that only listen keep none." /></div>}
          >
            <div class="target-charts">
              <For each={single().map((one) => one.name)}>{(name) => <Panel plan={plans().find((one) => one.name === name)} rows={['']} range={range().seconds} {...props} />}</For>
            </div>
            <Show when={rowNames().length > 0}>
              <div class="row">
                <h3>By row</h3>
                <For each={rows()}>{(row) => <button type="button" class="target-row-chip" title={`Take ${row} away`} onClick={() => toggle(row)}>{row} <span aria-hidden="true">×</span></button>}</For>
                <Menu
                  dense
                  icon="plus"
                  label={`${rowNames().length} rows: choose which are shown`}
                  entries={() => rowNames().map((row) => ({ label: row, checked: rows().includes(row), keepOpen: true, run: () => toggle(row) }))}
                >
                  {rowNames().length} rows
                </Menu>
                <span class="muted small">up to {kMostRows} at once</span>
              </div>
              <div class="target-charts">
                <For each={shown().map((one) => one.name)}>{(name) => <Panel plan={plans().find((one) => one.name === name)} rows={rows()} range={range().seconds} {...props} />}</For>
              </div>
              <Show when={tables().length > kFirstCharts && !all()}>
                <button type="button" class="button" onClick={() => setAll(true)}>Show {tables().length - kFirstCharts} more metrics</button>
              </Show>
            </Show>
          </Show>
        )}
      </Loaded>
    </section>
  );
}

interface Question {
  target: string;
  metric: string;
  rows: readonly string[];
  range: number;
}

interface Found extends Question {
  from: number;
  to: number;
  points: HistoryPoint[][];
  tier: string;
}

async function load(question: Question, signal: AbortSignal): Promise<Found> {
  const to = serverNow();
  const from = to - question.range * 1000;
  const step = stepFor(question.range);
  const base = { metric: question.metric, from: new Date(from).toISOString(), to: new Date(to).toISOString(), step: `${step}s` };
  const answers = await Promise.all(
    question.rows.map((row) =>
      api.get<HistoryAnswer>(path`api/targets/${question.target}/history`, { query: { ...base, row }, signal }).catch((error: unknown) => {
        if ((error as { code?: string }).code === 'history.unknown_metric') return null; // a row that has no such value
        throw error;
      }),
    ),
  );
  const points = answers.map((answer, place) => answer?.series.find((one) => one.row === question.rows[place])?.points ?? []);
  const tier = answers.find((answer) => answer?.series[0]?.from)?.series[0]?.from ?? 'samples';
  return { ...question, from: from / 1000, to: to / 1000, points, tier };
}

function Panel(props: { plan: MetricPlan | undefined; rows: readonly string[]; range: number; target: string; changes: readonly Change[]; interval: number }): JSX.Element {
  const [seen, setSeen] = createSignal(false);
  let box!: HTMLElement;
  onMount(() => {
    const watch = new IntersectionObserver((entries) => {
      if (entries.some((one) => one.isIntersecting)) {
        setSeen(true);
        watch.disconnect();
      }
    }, { rootMargin: '200px' });
    watch.observe(box);
    onCleanup(() => watch.disconnect());
  });
  const question = createMemo<Question | null>(
    () => (seen() && props.plan && props.rows.length > 0 ? { target: props.target, metric: props.plan.name, rows: props.rows, range: props.range } : null),
    null,
    { equals: (a, b) => JSON.stringify(a) === JSON.stringify(b) },
  );
  const found = fetched(question, load, {
    events: ['poll_result'],
    concerns: (event) => event.key !== undefined && targetOf(event.key) === props.target && props.range <= 21_600,
    every: 60,
    soonest: 5000,
  });
  const gap = () => Math.max(stepFor(props.range) * 2.5, props.interval * 3.5, 30);
  const lines = createMemo(() => {
    const now = found.data();
    if (now === undefined) return { times: [], series: [] };
    const { times, values } = aligned(now.points, now.from, now.to, gap());
    const series = now.rows.map((row, place) => ({
      label: row === '' ? now.metric : row,
      values: bridged(values[place] ?? [], times, gap()),
      area: now.rows.length === 1 && props.plan?.state !== true,
      stepped: props.plan?.state === true,
    }));
    return { times, series };
  });
  const marks = createMemo<ChartMark[]>(() =>
    props.changes
      .filter((one) => one.kind === 'health' && (one.to === 'down' || one.from === 'down'))
      .map((one) => ({ at: Date.parse(one.at) / 1000, label: one.message, color: one.to === 'down' ? 'bad' : 'ok' })),
  );
  const note = () => {
    const tier = found.data()?.tier;
    return tier === undefined || tier === 'samples' ? '' : `from ${tier} of history`;
  };
  return (
    <figure class="panel target-chart" ref={(element) => (box = element)}>
      <div class="target-chart-head">
        <h3 title={props.plan?.help}>{(props.plan?.name ?? '').replaceAll('_', ' ')}</h3>
        <span class="muted small cut" title={props.plan?.help}>{props.plan?.help}</span>
        <span class="spring" />
        <span class="muted small">{note()}</span>
      </div>
      <Show when={found.problem()} fallback={
        <Show when={found.data()} fallback={<Skeleton lines={3} />}>
          <Chart
            label={`${props.plan?.name ?? ''}, last ${duration(props.range)}`}
            group={`target ${props.target}`}
            unit={props.plan?.unit ?? ''}
            height={150}
            times={lines().times}
            series={lines().series}
            marks={marks()}
            empty="Nothing in this time"
          />
        </Show>
      }>
        {(problem) => <ErrorState problem={problem()} retry={found.refetch} />}
      </Show>
    </figure>
  );
}
