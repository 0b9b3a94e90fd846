// What runs next, what is ready and waits, and the last batches that were started.
import { createMemo, createSignal, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api } from '../../api/client';
import { href } from '../../app/router';
import { Badge, Button, Countdown, FilterInput, Loaded, Table, Time, toast, toastProblem } from '../../design';
import type { Column } from '../../design';
import { compileFilter, parseFilter } from '../../logic/filter';
import type { FilterSchema } from '../../logic/filter';
import { count, duration, plural } from '../../logic/format';
import { whyNot } from '../../state/session';
import { polled } from '../../state/polled';
import { Due } from './Due';
import { targetOf } from '../../state/fleet_book';
import { words } from './keys';
import type { Batch, Plan, PlanEntry, ReadyEntry, ReadySet } from './shapes';

const kShown = 500;
const kTiers = ['critical', 'high', 'normal', 'low'];
const tierRank = (tier: string) => kTiers.indexOf(tier);

const kFilter: FilterSchema<PlanEntry> = {
  fields: [
    { name: 'class', help: 'addon or type of job', kind: 'text', read: (row) => row.class },
    { name: 'tier', help: 'critical, high, normal, low', kind: 'word', read: (row) => row.tier, values: () => kTiers },
    { name: 'place', help: 'where it is: scheduled, ready, running …', kind: 'text', read: (row) => row.place },
    { name: 'interval', help: 'seconds, or 30s, 5m', kind: 'number', read: (row) => row.interval },
  ],
  text: (row) => row.key,
};

export function KeyLink(props: { task: string }): JSX.Element {
  return <a class="mono" href={href('/targets/:key', { key: targetOf(props.task) })} title={props.task}>{props.task}</a>;
}

export function PlanTab(): JSX.Element {
  const plan = polled((signal) => api.get<Plan>('api/scheduler/plan', { query: { limit: kShown }, signal }), { every: 5000 });
  const ready = polled((signal) => api.get<ReadySet>('api/scheduler/ready', { query: { limit: 200 }, signal }), { every: 3000 });
  const [busy, setBusy] = createSignal(false);
  const look = async () => {
    setBusy(true);
    try {
      const found = await api.post<ReadySet>('api/scheduler/trigger');
      ready.set(found);
      toast('ok', found.count === 0 ? 'The scheduler looked: nothing is ready and waits.' : `The scheduler looked: ${plural(found.count, 'task')} ready.`);
    } catch (error) {
      toastProblem(error, 'The scheduler could not be asked to look');
    }
    setBusy(false);
  };
  return (
    <div class="stack">
      <section class="stack" aria-label="Ready set">
        <div class="row">
          <h2>Ready and waiting</h2>
          <Show when={ready.data()}>{(data) => <Badge tone={data().count > 0 ? 'info' : 'mute'}>{count(data().count)}</Badge>}</Show>
          <span class="spring" />
          <Button icon="refresh" busy={busy()} disabledReason={whyNot('operate')} title="The scheduler looks by itself whenever something happens; this makes it look now." onClick={() => void look()}>Look for ready work now</Button>
        </div>
        <Loaded data={ready.data()} problem={ready.problem()} retry={ready.refresh} title="The ready set could not be loaded">
          {(data) => (
            <>
              <Show
                when={data().items.length > 0}
                fallback={<p class="panel panel-body muted">Nothing waits: what is due starts at once.</p>}
              >
                <Table id="scheduler-ready" label="Ready tasks" noun="ready task" grow={10} columns={kReady} rows={data().items} rowKey={(row) => row.key} card={(row) => <ReadyCard row={row} />} />
              </Show>
              <details class="panel scheduler-details">
                <summary>Last batches: {batchWords(data().batches)}</summary>
                <Table id="scheduler-batches" label="Last batches" noun="batch" grow={10} columns={kBatches} rows={data().batches.map((batch, place) => ({ ...batch, place }))} rowKey={(row) => String(row.place)} />
              </details>
            </>
          )}
        </Loaded>
      </section>
      <section class="stack" aria-label="Plan">
        <Loaded data={plan.data()} problem={plan.problem()} retry={plan.refresh} title="The plan could not be loaded" lines={10}>
          {(data) => <PlanTable plan={data()} />}
        </Loaded>
      </section>
    </div>
  );
}

function batchWords(batches: readonly Batch[]): string {
  if (batches.length === 0) return 'none yet';
  const starts = batches.reduce((sum, batch) => sum + batch.starts, 0);
  const most = batches.reduce((high, batch) => Math.max(high, batch.starts), 0);
  return `${count(batches.length)} with ${plural(starts, 'start')}, at most ${count(most)} at once`;
}

function PlanTable(props: { plan: Plan }): JSX.Element {
  const [filter, setFilter] = createSignal('');
  const wanted = createMemo(() => compileFilter(parseFilter(filter()), kFilter));
  const rows = createMemo(() => props.plan.items.filter(wanted()));
  // Only when this changes: other columns draw the whole table anew.
  const shadow = createMemo(() => props.plan.shadow);
  const columns = createMemo<Column<PlanEntry>[]>(() => [
    { id: 'key', title: 'Task', width: 'minmax(200px, 3fr)', fixed: true, cell: (row) => <KeyLink task={row.key} />, value: (row) => row.key },
    { id: 'next', title: 'Next run', width: '96px', end: true, cell: (row) => <Countdown at={row.next_run} />, value: (row) => row.due_in },
    { id: 'interval', title: 'Interval', width: '96px', end: true, cell: (row) => duration(row.interval), value: (row) => row.interval },
    ...(shadow()
      ? [{ id: 'would', title: 'Would be', help: 'What adaptive polling would choose (shadow mode)', width: '96px', end: true, cell: (row: PlanEntry) => <Would row={row} />, value: (row: PlanEntry) => row.would_be ?? null }]
      : []),
    { id: 'tier', title: 'Tier', width: '90px', cell: (row) => row.tier, value: (row) => tierRank(row.tier) },
    { id: 'class', title: 'Class', width: 'minmax(110px, 1fr)', cell: (row) => row.class, value: (row) => row.class },
    { id: 'place', title: 'Place', width: '130px', cell: (row) => words(row.place), value: (row) => row.place },
  ]);
  return (
    <>
      <div class="row">
        <h2>The plan</h2>
        <span class="muted small">the next {count(props.plan.items.length)} runs, in order<Show when={props.plan.shadow}>; shadow mode: “would be” is what adaptive polling would choose</Show></span>
        <span class="spring" />
        <div class="scheduler-filter"><FilterInput label="Filter the plan" placeholder="class:snmp* tier:high interval>30s text" schema={kFilter} value={filter()} onInput={setFilter} /></div>
      </div>
      <Table
        id="scheduler-plan"
        label="Plan"
        noun="run"
        grow={16}
        columns={columns()}
        rows={rows()}
        rowKey={(row) => row.key}
        card={(row) => (
          <div class="scheduler-card">
            <KeyLink task={row.key} />
            <span class="muted small"><Due at={row.next_run} />, every {duration(row.interval)}<Show when={row.would_be}>{(would) => <> (would be {duration(would())})</>}</Show>, {row.tier}</span>
          </div>
        )}
        empty={<p class="muted panel-body">{props.plan.items.length === 0 ? 'Nothing is planned.' : 'Nothing in the plan is like this filter.'}</p>}
      />
    </>
  );
}

function Would(props: { row: PlanEntry }): JSX.Element {
  const same = () => props.row.would_be === undefined || Math.abs(props.row.would_be - props.row.interval) < 0.5;
  return <span class={same() ? 'muted' : ''}>{duration(props.row.would_be)}{same() ? '' : (props.row.would_be as number) < props.row.interval ? ' ↓' : ' ↑'}</span>;
}

const kReady: Column<ReadyEntry>[] = [
  { id: 'key', title: 'Task', width: 'minmax(200px, 3fr)', fixed: true, cell: (row) => <KeyLink task={row.key} />, value: (row) => row.key },
  { id: 'for', title: 'Waits', width: '90px', end: true, cell: (row) => duration(row.ready_for), value: (row) => row.ready_for },
  { id: 'place', title: 'For', help: 'What it waits for', width: '140px', cell: (row) => words(row.place), value: (row) => row.place },
  { id: 'tier', title: 'Tier', width: '130px', cell: (row) => tierWords(row), value: (row) => tierRank(row.effective_priority) },
  { id: 'slots', title: 'Slots', width: '70px', end: true, cell: (row) => count(row.slots), value: (row) => row.slots },
  { id: 'resources', title: 'Resources', width: 'minmax(120px, 1fr)', cell: (row) => named(row.resources) },
];

function tierWords(row: ReadyEntry): string {
  return row.effective_priority === row.priority ? row.priority : `${row.priority}, now ${row.effective_priority}`;
}

function named(resources: Record<string, number>): string {
  return Object.entries(resources).map(([name, amount]) => `${name} ${count(amount)}`).join(', ') || '–';
}

function ReadyCard(props: { row: ReadyEntry }): JSX.Element {
  return (
    <div class="scheduler-card">
      <KeyLink task={props.row.key} />
      <span class="muted small">{words(props.row.place)} for {duration(props.row.ready_for)}, {tierWords(props.row)}</span>
    </div>
  );
}

const kBatches: Column<Batch & { place: number }>[] = [
  { id: 'at', title: 'When', width: '150px', fixed: true, cell: (row) => <Time at={row.at} />, value: (row) => row.at },
  { id: 'ready', title: 'Ready', width: '90px', end: true, cell: (row) => count(row.ready), value: (row) => row.ready },
  { id: 'starts', title: 'Started', width: '90px', end: true, cell: (row) => count(row.starts), value: (row) => row.starts },
  { id: 'flight', title: 'In flight', width: '90px', end: true, cell: (row) => count(row.in_flight), value: (row) => row.in_flight },
  { id: 'resources', title: 'Resources', width: 'minmax(120px, 1fr)', cell: (row) => named(row.resources) },
];
