// The last polls of a target: what each did, how long its phases took, what it cost.
import { createMemo, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, asProblem, path } from '../../api/client';
import { Badge, EmptyState, ErrorState, Skeleton, StateMark, Table, Time } from '../../design';
import type { Column } from '../../design';
import { bytes, count, duration, percent, plural } from '../../logic/format';
import { keepRows } from '../../logic/keep_rows';
import type { Costs } from '../../parts/costs';
import { CostTiles, Tile } from '../../parts/CostTiles';
import { fetched } from '../../parts/fetched';
import { targetOf } from '../../state/fleet_book';
import { kPhases, phaseWords } from './phases';
import type { Phase } from './phases';

export interface Run {
  task: string;
  started: string;
  duration: number;
  lag?: number;
  outcome: string;
  code?: string;
  error?: string;
  trigger: string;
  requests?: number;
  bytes?: number;
  changed?: boolean;
  phases?: Phase[];
}

interface RunsAnswer {
  kept_since?: string;
  items: Run[];
}

/** 404 of the path itself: an older server. */
async function optional<T>(wanted: Promise<T>): Promise<T | null> {
  try {
    return await wanted;
  } catch (error) {
    if (asProblem(error).code === 'api.not-found') return null;
    throw error;
  }
}

const runKey = (run: Run) => `${run.task} ${run.started}`;

function Phases(props: { run: Run }): JSX.Element {
  const phases = () => props.run.phases ?? [];
  const known = () => phases().reduce((sum, one) => sum + one.seconds, 0);
  // In percent: items that grow by less than one in all do not fill their line.
  const share = (seconds: number) => (seconds / Math.max(props.run.duration, known(), 1e-9)) * 100;
  const words = () => phaseWords(phases());
  return (
    <span class="phases" title={words() === '' ? duration(props.run.duration) : words()}>
      <span class="phases-bar" aria-hidden="true">
        <For each={phases()}>
          {(one) => <span class={`phase phase-${kPhases.indexOf(one.name) + 1}`} style={{ 'flex-grow': share(one.seconds) }} />}
        </For>
        <span class="phase phase-rest" style={{ 'flex-grow': phases().length === 0 ? 100 : share(Math.max(0, props.run.duration - known())) }} />
      </span>
      <span class="phases-words cut">{words() === '' ? <span class="muted">not known</span> : words()}</span>
    </span>
  );
}

function columnsFor(parts: boolean): Column<Run>[] {
  return [
    { id: 'started', title: 'Started', width: '130px', fixed: true, cell: (run) => <Time at={run.started} />, value: (run) => Date.parse(run.started) },
    { id: 'outcome', title: 'Outcome', width: '130px', fixed: true, cell: (run) => <StateMark state={run.outcome} />, value: (run) => run.outcome },
    { id: 'part', title: 'Part', width: '90px', hidden: !parts, cell: (run) => run.task.split('#')[1] ?? 'main', value: (run) => run.task },
    { id: 'duration', title: 'Duration', width: '90px', end: true, cell: (run) => duration(run.duration), value: (run) => run.duration },
    { id: 'phases', title: 'Phases', width: 'minmax(200px, 3fr)', help: 'How long each phase took, the longest first', cell: (run) => <Phases run={run} /> },
    { id: 'lag', title: 'Lag', width: '80px', end: true, help: 'Start after it was due', cell: (run) => duration(run.lag ?? null), value: (run) => run.lag ?? null },
    { id: 'trigger', title: 'Trigger', width: '90px', cell: (run) => run.trigger, value: (run) => run.trigger },
    { id: 'requests', title: 'Requests', width: '85px', end: true, cell: (run) => count(run.requests), value: (run) => run.requests ?? null },
    { id: 'bytes', title: 'Bytes', width: '90px', end: true, cell: (run) => bytes(run.bytes), value: (run) => run.bytes ?? null },
    { id: 'changed', title: 'Changed', width: '94px', cell: (run) => (run.changed ? <Badge tone="info">changed</Badge> : <span class="muted">no</span>), value: (run) => (run.changed ? 1 : 0) },
    { id: 'error', title: 'Error', width: 'minmax(160px, 3fr)', cell: (run) => <span title={run.error}>{run.code ? `${run.code}: ${run.error ?? ''}` : ''}</span> },
  ];
}

export function Runs(props: { target: string; tasks: number }): JSX.Element {
  const mine = { events: ['poll_result'] as const, concerns: (event: { key?: string }) => event.key !== undefined && targetOf(event.key) === props.target };
  const runs = fetched(() => props.target, (key, signal) => optional(api.get<RunsAnswer>(path`api/targets/${key}/runs`, { query: { limit: 50 }, signal })), mine);
  const costs = fetched(() => props.target, (key, signal) => optional(api.get<Costs>('api/scheduler/costs', { query: { key }, signal })), { every: 30 });
  const items = createMemo<readonly Run[]>((before) => keepRows(before, runs.data()?.items ?? [], runKey), []);
  const longest = createMemo(() => Math.max(0, ...items().map((run) => run.duration)));
  const good = () => items().filter((run) => run.outcome === 'ok' || run.outcome === 'degraded').length;
  const columns = createMemo(() => columnsFor(props.tasks > 1));
  return (
    <div class="target-tab stack">
      <Show when={runs.problem()}>{(problem) => <ErrorState problem={problem()} retry={runs.refetch} />}</Show>
      <Show when={runs.data() !== undefined} fallback={<Show when={!runs.problem()}><Skeleton lines={6} /></Show>}>
        <Show when={runs.data()} fallback={<div class="panel"><EmptyState icon="clock" title="This server keeps no list of runs" text="A newer version does. Transitions and values are on the overview." /></div>}>
          <dl class="tiles">
            <Tile title="Of these runs good" value={items().length === 0 ? '–' : percent(good() / items().length)} note={`${good()} of ${plural(items().length, 'run')}`} />
            <Tile title="Mean duration" value={duration(mean(items().map((run) => run.duration)))} note={`longest ${duration(longest())}`} />
            <Tile title="Mean lag" value={duration(mean(items().map((run) => run.lag ?? 0)))} note="start after due" />
            <Show when={costs.data()}>{(now) => <CostTiles costs={now()} />}</Show>
          </dl>
          <Table
            id="target-runs"
            label={`Runs of ${props.target}`}
            noun="run"
            columns={columns()}
            rows={items()}
            rowKey={runKey}
            grow={20}
            card={(run) => <RunCard run={run} />}
            cardHeight={78}
            empty={<EmptyState icon="clock" title="No runs yet" text="They are kept in memory since the server started." />}
            foot={<span class="row small"><PhaseLegend /></span>}
          />
        </Show>
      </Show>
    </div>
  );
}

function RunCard(props: { run: Run }): JSX.Element {
  return (
    <div class="alert-card">
      <span class="row"><StateMark state={props.run.outcome} /><span>{duration(props.run.duration)}</span><span class="spring" /><span class="muted small"><Time at={props.run.started} /></span></span>
      <Phases run={props.run} />
      <span class="muted small cut">{props.run.error ?? `${props.run.trigger}, lag ${duration(props.run.lag ?? null)}`}</span>
    </div>
  );
}

function PhaseLegend(): JSX.Element {
  return <For each={kPhases}>{(name, place) => <span class="phase-key"><span class={`phase phase-${place() + 1}`} />{name}</span>}</For>;
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, one) => sum + one, 0) / values.length;
}
