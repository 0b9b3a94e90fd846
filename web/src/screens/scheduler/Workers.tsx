// The threads of the server, the classes of the scheduler and the regions: whether they answer, and how
// the day of each went.
import { createMemo, createSignal, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api } from '../../api/client';
import { Bar, Chart, Loaded, Sparkline, StateMark, Table, Time } from '../../design';
import type { Column } from '../../design';
import { bytes, compact, count, duration, percent } from '../../logic/format';
import { polled } from '../../state/polled';
import { judge, kLimits, toneOfVerdict } from './limits';
import { QueueDay, WorkerDay } from './DayGraphs';
import type { Queue, Queues, Region, Regions, SchedulerHistory, Worker, Workers } from './shapes';
import { Judged } from './Tile';

const kKinds: Record<string, string> = {
  main: 'settings, files, signals',
  alerts: 'raises and clears alerts',
  api: 'answers this page',
  audit: 'writes the audit trail',
  core: 'decides what runs when',
  history: 'writes values',
  inbound: 'hears traps and webhooks',
  shard: 'asks devices',
  jobs: 'runs jobs',
  notify: 'tells people',
  pool: 'what must wait: passwords, reads',
  store: 'writes the state',
  uptime: 'sums up how long targets were up',
};
const kKept = 60;

export function WorkersTab(): JSX.Element {
  const [past, setPast] = createSignal<ReadonlyMap<string, readonly number[]>>(new Map());
  const workers = polled(
    async (signal) => {
      const found = await api.get<Workers>('api/workers', { signal });
      setPast((before) => new Map(found.items.map((one) => [one.name, [...(before.get(one.name) ?? []), one.cpu_share].slice(-kKept)])));
      return found;
    },
    { every: 5000 },
  );
  const queues = polled((signal) => api.get<Queues>('api/queues', { signal }), { every: 10_000 });
  const regions = polled((signal) => api.get<Regions>('api/regions', { signal }), { every: 10_000 });
  const [worker, setWorker] = createSignal<string | null>(null);
  const [queue, setQueue] = createSignal<string | null>(null);
  const [region, setRegion] = createSignal<string | null>(null);
  const day = polled((signal) => api.get<SchedulerHistory>('api/scheduler/history', { query: { span: '24h' }, signal }), { every: 300_000 });
  return (
    <div class="stack">
      <section class="stack" aria-label="Workers">
        <Loaded data={workers.data()} problem={workers.problem()} retry={workers.refresh} title="The workers could not be loaded" lines={8}>
          {(data) => (
            <>
              <div class="row">
                <h2>Workers</h2>
                <span class="muted small">the process holds {bytes(data().process.resident_bytes)} of memory and {count(data().process.open_fds)} open files, and used {duration(data().process.cpu_seconds)} of processor time</span>
              </div>
              <WorkerTable workers={data()} past={past()} open={setWorker} />
            </>
          )}
        </Loaded>
        <Show when={worker()} keyed>{(name) => <WorkerDay name={name} />}</Show>
      </section>
      <section class="stack" aria-label="Queues">
        <div class="row"><h2>Queues</h2><span class="muted small">the classes of the scheduler; rates of the last five to ten minutes, the rest of the last 24 hours; choose one for its day</span></div>
        <Loaded data={queues.data()} problem={queues.problem()} retry={queues.refresh} title="The queues could not be loaded" lines={6}>
          {(data) => <QueueTable queues={data()} open={setQueue} />}
        </Loaded>
        <Show when={queue()} keyed>{(name) => <QueueDay name={name} path="api/queues/history" query={{ class: name }} />}</Show>
      </section>
      <section class="stack" aria-label="Regions">
        <div class="row"><h2>Regions</h2><span class="muted small">where targets are polled from; choose one for its day</span></div>
        <Loaded data={regions.data()} problem={regions.problem()} retry={regions.refresh} title="The regions could not be loaded" lines={3}>
          {(data) => <RegionTable regions={data()} open={setRegion} />}
        </Loaded>
        <Show when={region() !== null}><QueueDay name={regionName(region() ?? '')} path="api/regions/history" query={{ region: region() ?? '' }} /></Show>
      </section>
      <section class="panel" aria-label="The last 24 hours">
        <h2 class="panel-head">The last 24 hours</h2>
        <Loaded data={day.data()} problem={day.problem()} retry={day.refresh} title="The last 24 hours could not be loaded" lines={6}>
          {(data) => <DayChart day={data()} />}
        </Loaded>
      </section>
    </div>
  );
}

function WorkerTable(props: { workers: Workers; past: ReadonlyMap<string, readonly number[]>; open: (name: string) => void }): JSX.Element {
  const columns: Column<Worker>[] = [
    { id: 'name', title: 'Worker', width: 'minmax(130px, 1.2fr)', fixed: true, cell: (row) => <span class="mono">{row.name}</span>, value: (row) => row.name },
    { id: 'kind', title: 'What it does', width: 'minmax(150px, 1.4fr)', cell: (row) => <span class="muted">{kKinds[row.kind] ?? row.kind}</span>, value: (row) => row.kind },
    { id: 'status', title: 'Status', width: '96px', cell: (row) => <StatusMark status={row.status} />, value: (row) => row.status },
    { id: 'cpu', title: 'Processor', help: 'Share of one core, over the last seconds', width: '190px', cell: (row) => <Cpu row={row} />, value: (row) => row.cpu_share / Math.max(1, row.threads) },
    { id: 'curve', title: 'While you look', width: '100px', cell: (row) => <Sparkline values={props.past.get(row.name) ?? []} label={`Processor share of ${row.name} since this page was opened`} width={80} /> },
    { id: 'memory', title: 'Tables', help: 'What its tables hold, about; all threads share the memory of the process', width: '84px', end: true, cell: (row) => (row.memory_bytes === undefined ? '–' : bytes(row.memory_bytes)), value: (row) => row.memory_bytes ?? null },
    { id: 'active', title: 'Active', width: '76px', end: true, cell: (row) => count(row.active), value: (row) => row.active ?? null },
    { id: 'completed', title: 'Completed', width: '94px', end: true, cell: (row) => count(row.completed), value: (row) => row.completed ?? null },
    { id: 'failed', title: 'Failed', width: '76px', end: true, cell: (row) => count(row.failed), value: (row) => row.failed ?? null },
    { id: 'seen', title: 'Seen', width: '90px', cell: (row) => <Time at={row.last_seen} relative none="–" />, value: (row) => row.last_seen ?? null },
    { id: 'threads', title: 'Threads', width: '76px', end: true, hidden: true, cell: (row) => count(row.threads), value: (row) => row.threads },
  ];
  return (
    <Table
      id="scheduler-workers"
      label="Workers"
      noun="worker"
      grow={20}
      columns={columns}
      rows={props.workers.items}
      rowKey={(row) => row.name}
      onOpen={(row) => props.open(row.name)}
      card={(row) => (
        <div class="scheduler-card">
          <span class="row"><span class="mono">{row.name}</span><StatusMark status={row.status} /><span class="spring" /><span class="small">{percent(row.cpu_share)} processor</span></span>
          <span class="muted small">{kKinds[row.kind] ?? row.kind}<Show when={row.completed !== undefined}>; {count(row.completed)} done, {count(row.failed)} failed</Show></span>
        </div>
      )}
    />
  );
}

function StatusMark(props: { status: string }): JSX.Element {
  const state = () => (props.status === 'ok' || props.status === 'running' ? 'ok' : props.status === 'silent' ? 'stale' : 'failed');
  return <StateMark state={state()} word={props.status} />;
}

function Cpu(props: { row: Worker }): JSX.Element {
  // A row may stand for several threads; each has a core at most.
  const share = () => props.row.cpu_share / Math.max(1, props.row.threads);
  const verdict = () => judge(kLimits.cpu, share());
  return <Bar value={share()} max={1} tone={toneOfVerdict(verdict())} text={`${percent(share())}${verdict() === 'healthy' ? '' : `, ${verdict()}`}`} title={`${percent(props.row.cpu_share)} of one core; healthy below 70 %, warning above 90 %`} />;
}

function QueueTable(props: { queues: Queues; open: (name: string) => void }): JSX.Element {
  return (
    <Table
      id="scheduler-queues"
      label="Queues"
      noun="class"
      grow={20}
      columns={kQueues}
      rows={props.queues.items}
      rowKey={(row) => row.class}
      onOpen={(row) => props.open(row.class)}
      cardHeight={84}
      card={(row) => (
        <div class="scheduler-card">
          <span class="row"><strong>{row.class}</strong><span class="spring" /><Judged limit={kLimits.success} measured={row.day.success_ratio} text={percent(row.day.success_ratio, 2)} /></span>
          <span class="muted small">{count(row.tasks)} tasks, {count(row.length)} waiting, {compact(row.start_rate)}/s start</span>
          <span class="muted small">24 h: {count(row.day.finished)} ended, {count(row.day.failed)} failed, mean {duration(row.day.mean)}</span>
        </div>
      )}
      empty={<p class="muted panel-body">There is no class yet: nothing is in the fleet.</p>}
    />
  );
}

/** The region that the server itself polls has no name. */
const regionName = (name: string): string => (name === '' ? 'local' : name);

function RegionTable(props: { regions: Regions; open: (name: string) => void }): JSX.Element {
  return (
    <Table
      id="scheduler-regions"
      label="Regions"
      noun="region"
      grow={20}
      columns={kRegions}
      rows={props.regions.items}
      rowKey={(row) => row.region}
      onOpen={(row) => props.open(row.region)}
      cardHeight={84}
      card={(row) => (
        <div class="scheduler-card">
          <span class="row"><strong>{regionName(row.region)}</strong><Served region={row} /><span class="spring" /><Judged limit={kLimits.success} measured={row.day.success_ratio} text={percent(row.day.success_ratio, 2)} /></span>
          <span class="muted small">{count(row.in_flight)} under way, {compact(row.start_rate)}/s start</span>
          <span class="muted small">24 h: {count(row.day.finished)} ended, {count(row.day.failed)} failed, mean {duration(row.day.mean)}</span>
        </div>
      )}
    />
  );
}

function Served(props: { region: Region }): JSX.Element {
  return <StateMark state={props.region.slots === 0 ? 'stale' : 'ok'} word={props.region.slots === 0 ? 'nobody serves it' : 'served'} />;
}

/** What queues and regions have in common. */
const kRates: Column<Omit<Queue, 'class' | 'tasks' | 'length'>>[] = [
  { id: 'start', title: 'Starts', width: '84px', end: true, cell: (row) => `${compact(row.start_rate)}/s`, value: (row) => row.start_rate },
  { id: 'finish', title: 'Ends', width: '84px', end: true, cell: (row) => `${compact(row.finish_rate)}/s`, value: (row) => row.finish_rate },
  { id: 'finished', title: 'Ended, 24 h', width: '100px', end: true, cell: (row) => count(row.day.finished), value: (row) => row.day.finished },
  { id: 'failed', title: 'Failed, 24 h', width: '100px', end: true, cell: (row) => count(row.day.failed), value: (row) => row.day.failed },
  { id: 'success', title: 'Success', width: '164px', end: true, cell: (row) => <Judged limit={kLimits.success} measured={row.day.success_ratio} text={percent(row.day.success_ratio, 2)} />, value: (row) => row.day.success_ratio ?? null },
  { id: 'mean', title: 'Mean poll', width: '148px', end: true, cell: (row) => <Judged limit={kLimits.meanPoll} measured={row.day.mean} text={duration(row.day.mean)} />, value: (row) => row.day.mean ?? null },
  { id: 'p95', title: 'p95', width: '80px', end: true, cell: (row) => duration(row.day.p95), value: (row) => row.day.p95 ?? null },
];

const kQueues: Column<Queue>[] = [
  { id: 'class', title: 'Class', width: 'minmax(150px, 2fr)', fixed: true, cell: (row) => row.class, value: (row) => row.class },
  { id: 'tasks', title: 'Tasks', width: '76px', end: true, cell: (row) => count(row.tasks), value: (row) => row.tasks },
  { id: 'length', title: 'Waiting', help: 'Due, and wait for their turn or for room', width: '76px', end: true, cell: (row) => count(row.length), value: (row) => row.length },
  ...kRates,
];

const kRegions: Column<Region>[] = [
  { id: 'region', title: 'Region', width: 'minmax(100px, 2fr)', fixed: true, cell: (row) => regionName(row.region), value: (row) => row.region },
  { id: 'served', title: 'Workers', width: '120px', cell: (row) => <Served region={row} />, value: (row) => row.slots ?? null },
  { id: 'in_flight', title: 'Under way', width: '84px', end: true, cell: (row) => count(row.in_flight), value: (row) => row.in_flight },
  ...kRates,
];

function DayChart(props: { day: SchedulerHistory }): JSX.Element {
  const times = createMemo(() => props.day.points.map((point) => Date.parse(point.at) / 1000));
  return (
    <Chart
      label="Runs per second, last 24 hours"
      group="scheduler-day"
      unit="/s"
      times={times()}
      series={[
        { label: 'ended well', values: props.day.points.map((point) => (point.finished - point.failed) / props.day.step), color: 'series-3', area: true },
        { label: 'failed', values: props.day.points.map((point) => point.failed / props.day.step), color: 'bad' },
      ]}
    />
  );
}
