// The values of a target over time: one chart per metric, all with the same range, the same instant
// under the pointer and the same zoom. The charts in sight ask together, and only for what is new.
import { createMemo, createSignal, For, onCleanup, onMount, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { query, setQuery } from '../../app/router';
import { api, path } from '../../api/client';
import type { Problem } from '../../api/client';
import { Chart, EmptyState, ErrorState, Loaded, Menu, NotUpToDate, Skeleton } from '../../design';
import type { ChartMark } from '../../design';
import { serverNow } from '../../logic/clock';
import { duration } from '../../logic/format';
import { fetched } from '../../parts/fetched';
import type { Change } from '../../parts/model';
import { SpanChoice } from '../../parts/StateStrip';
import { targetOf } from '../../state/fleet_book';
import { aligned, bridged, firstRows, kRanges, kUsualRange, metricPlan, stepFor } from './history';
import type { AddonMetric, HistoryAnswer, MetricPlan } from './history';
import { HistoryBook } from './history_book';
import type { Question, Wanted } from './history_book';

const kMostRows = 7;
const kFirstCharts = 8;
// Seconds; and what moves less often is asked for less often.
const kSoonest = 15;
// Who scrolls by asks once for all that came into sight, ms.
const kSettle = 120;
const kNoRows: readonly string[] = [''];

export function Charts(props: { target: string; metrics: readonly AddonMetric[]; changes: readonly Change[]; interval: number }): JSX.Element {
  const range = () => kRanges.find((one) => one.id === query('range')) ?? kUsualRange;
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

  const [seen, setSeen] = createSignal<ReadonlySet<string>>(new Set());
  const turned = new Map<string, boolean>();
  let settling: ReturnType<typeof setTimeout> | undefined;
  onCleanup(() => clearTimeout(settling));
  const view = (metric: string, visible: boolean) => {
    turned.set(metric, visible);
    settling ??= setTimeout(() => {
      settling = undefined;
      setSeen((before) => new Set([...before, ...turned.keys()].filter((one) => turned.get(one) ?? true)));
      turned.clear();
    }, kSettle);
  };
  const wanted = createMemo<{ target: string; range: number; metrics: Wanted[] } | null>(
    () => {
      const metrics = plans()
        .filter((one) => seen().has(one.name))
        .map((one) => ({ metric: one.name, rows: one.rows.every((row) => row === '') ? [''] : rows() }));
      return metrics.length === 0 ? null : { target: props.target, range: range().seconds, metrics };
    },
    null,
    { equals: (a, b) => JSON.stringify(a) === JSON.stringify(b) },
  );
  const book = createMemo(() => (props.target, new HistoryBook(range().seconds, stepFor(range().seconds))));
  const values = fetched(
    wanted,
    async (now, signal) => {
      const mine = book();
      const questions = mine.questions(now.metrics, Math.floor(serverNow() / 1000), Math.max(kSoonest, props.interval) * 0.8);
      await Promise.all(questions.map(async (one) => mine.take(one, await ask(now.target, one, signal))));
    },
    {
      events: ['poll_result'],
      concerns: (event) => event.key !== undefined && targetOf(event.key) === props.target && range().seconds <= 21_600,
      every: 60,
      soonest: 5000,
    },
  );
  const found = (metric: string, names: readonly string[]) => (values.data(), book().points(metric, names));
  const panel = (name: string, names: () => readonly string[]) => (
    <Panel
      plan={plans().find((one) => one.name === name)}
      rows={names()}
      range={range().seconds}
      found={found(name, names())}
      problem={values.problem()}
      retry={values.refetch}
      onView={(visible) => view(name, visible)}
      target={props.target}
      changes={props.changes}
      interval={props.interval}
    />
  );
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
            <NotUpToDate problem={book().empty ? null : values.problem()} retry={values.refetch} />
            <div class="target-charts">
              <For each={single().map((one) => one.name)}>{(name) => panel(name, () => kNoRows)}</For>
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
                <For each={shown().map((one) => one.name)}>{(name) => panel(name, rows)}</For>
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

async function ask(target: string, { metrics, rows, from, to, step }: Question, signal: AbortSignal): Promise<HistoryAnswer | null> {
  try {
    return await api.get<HistoryAnswer>(path`api/targets/${target}/history`, {
      query: { metric: metrics, row: rows.filter((row) => row !== ''), from: new Date(from * 1000).toISOString(), to: new Date(to * 1000).toISOString(), step: `${step}s` },
      signal,
    });
  } catch (error) {
    if ((error as { code?: string }).code === 'history.unknown_metric') return null; // rows that have no such value
    throw error;
  }
}

interface PanelProps {
  plan: MetricPlan | undefined;
  rows: readonly string[];
  range: number;
  found: ReturnType<HistoryBook['points']>;
  problem: Problem | null;
  retry: () => void;
  onView: (visible: boolean) => void;
  target: string;
  changes: readonly Change[];
  interval: number;
}

function Panel(props: PanelProps): JSX.Element {
  let box!: HTMLElement;
  onMount(() => {
    const watch = new IntersectionObserver((entries) => props.onView(entries.at(-1)?.isIntersecting === true), { rootMargin: '200px' });
    watch.observe(box);
    onCleanup(() => (watch.disconnect(), props.onView(false)));
  });
  const found = createMemo(() => props.found);
  const gap = () => Math.max(stepFor(props.range) * 2.5, props.interval * 3.5, 30);
  const lines = createMemo(() => {
    const now = found();
    if (now === null) return { times: [], series: [] };
    const { times, values } = aligned(now.points, now.to - props.range, now.to, gap());
    const series = props.rows.map((row, place) => ({
      label: row === '' ? (props.plan?.name ?? '') : row,
      values: bridged(values[place] ?? [], times, gap()),
      area: props.rows.length === 1 && props.plan?.state !== true,
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
    const tier = found()?.tier;
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
      <Show
        when={found() !== null}
        fallback={<Show when={props.problem} fallback={<Skeleton lines={3} />}>{(problem) => <ErrorState problem={problem()} retry={props.retry} />}</Show>}
      >
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
    </figure>
  );
}
