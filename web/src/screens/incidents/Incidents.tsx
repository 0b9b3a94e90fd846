// All incidents, and all alerts: what is open first, with filters, live.
import { createMemo, createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { useKeys } from '../../app/keys';
import { href, navigate, query, setQuery } from '../../app/router';
import { allItems, api, path } from '../../api/client';
import { kSeverities } from '../../api/model';
import { Badge, Button, confirm, EmptyState, FilterInput, Loaded, StateMark, Table, Tabs, Time, toast, toastProblem } from '../../design';
import type { Column } from '../../design';
import { parseTime, tick } from '../../logic/clock';
import { compileFilter, parseFilter } from '../../logic/filter';
import type { FilterSchema } from '../../logic/filter';
import { count, duration, plural } from '../../logic/format';
import { keepRows } from '../../logic/keep_rows';
import { AckDialog } from '../../parts/AckDialog';
import type { AckBody } from '../../parts/AckDialog';
import { AlertTable } from '../../parts/AlertTable';
import { fetched } from '../../parts/fetched';
import type { Alert, AlertStats, Incident } from '../../parts/model';
import { ReviewNote } from '../../parts/ReviewNote';
import { SpanChoice } from '../../parts/StateStrip';
import { who } from '../../parts/who';
import { whyNot } from '../../state/session';
import { byIncident, incidentState } from './incident_state';
import type { IncidentState } from './incident_state';
import './incidents.css';

const kMostOpen = 5000;
const kMostOver = 1000;
const kAlertEvents = ['alert_created', 'alert_updated', 'alert_resolved'] as const;

interface Row extends Incident {
  state: IncidentState;
}

export default function Incidents(): JSX.Element {
  const stats = fetched(() => 'stats', (_, signal) => api.get<AlertStats>('api/alerts/stats', { signal }), { events: kAlertEvents, every: 30, soonest: 2000 });
  return (
    <div class="page fill">
      <div class="page-head">
        <h1>{query('view') === 'alerts' ? 'Alerts' : 'Incidents'}</h1>
        <Show when={stats.data()}>
          {(now) => (
            <span class="row small" role="status">
              <For each={kSeverities.filter((one) => (now().by_severity[one] ?? 0) > 0)}>{(one) => <span class="row"><StateMark state={one} short /><span>{count(now().by_severity[one])} {one}</span></span>}</For>
              <span class="muted">{plural(now().total_open, 'open alert')}</span>
            </span>
          )}
        </Show>
      </div>
      <ReviewNote stats={stats.data()} onChange={stats.refetch} />
      <div class="incidents-tabs fill-column">
        <Tabs
          label="What to list"
          now={query('view')}
          onChange={(view) => setQuery({ view: view === 'incidents' ? '' : view, filter: '', status: '' })}
          tabs={[
            { id: 'incidents', title: 'Incidents', content: () => <IncidentList /> },
            { id: 'alerts', title: 'All alerts', content: () => <AlertList /> },
          ]}
        />
      </div>
    </div>
  );
}

const kStatuses = [
  { id: 'open', label: 'Open' },
  { id: 'acknowledged', label: 'Acknowledged' },
  { id: 'resolved', label: 'Resolved' },
  { id: 'all', label: 'All' },
] as const;

const kIncidentFilter: FilterSchema<Row> = {
  fields: [
    { name: 'severity', help: 'critical, major, minor, warning, info', kind: 'word', read: (row) => row.severity, values: () => kSeverities },
    { name: 'cause', help: 'alert, device or observer', kind: 'word', read: (row) => row.cause, values: () => ['alert', 'device', 'observer'] },
    { name: 'device', help: 'the device that is the root', kind: 'text', read: (row) => row.device_name ?? '' },
    { name: 'affected', help: 'how many alerts follow from it', kind: 'number', read: (row) => row.affected },
  ],
  text: (row) => `${row.title} ${row.device_name ?? ''} ${row.id}`,
};

const kCauses: Record<string, string> = {
  alert: 'a problem of its own',
  device: 'a device that others stand behind does not answer',
  observer: 'Pollux itself is cut off; what it says of devices is not to be believed',
};

const kColumns: readonly Column<Row>[] = [
  { id: 'severity', title: 'Severity', width: '100px', fixed: true, cell: (row) => <StateMark state={row.severity} />, value: (row) => kSeverities.indexOf(row.severity) },
  { id: 'status', title: 'Status', width: '130px', cell: (row) => <Status row={row} />, value: (row) => row.state.word },
  { id: 'title', title: 'Incident', width: 'minmax(300px, 3fr)', fixed: true, cell: (row) => <a href={href('/incidents/:id', { id: row.id })} title={row.title}>{row.title}</a>, value: (row) => row.title },
  {
    id: 'device', title: 'Device', width: 'minmax(110px, 1fr)',
    cell: (row) => <Show when={row.device_name} fallback={<span class="muted">–</span>}>{(name) => <a href={href('/devices/:name', { name: name() })}>{name()}</a>}</Show>,
    value: (row) => row.device_name,
  },
  { id: 'cause', title: 'Cause', width: '90px', hidden: true, cell: (row) => <span title={kCauses[row.cause]}>{row.cause}</span>, value: (row) => row.cause },
  { id: 'affected', title: 'Affected', width: '80px', end: true, help: 'Alerts that follow from it: the largest number there was', cell: (row) => count(row.affected), value: (row) => row.affected },
  { id: 'since', title: 'Opened', width: '100px', cell: (row) => <Time at={row.opened_at} relative />, value: (row) => Date.parse(row.opened_at) },
  { id: 'length', title: 'Lasts', width: '96px', end: true, help: 'How long it lasted, or lasts', cell: (row) => <span class="ages">{duration(length(row))}</span>, value: (row) => length(row) },
  { id: 'number', title: 'Number', width: '80px', end: true, hidden: true, cell: (row) => count(row.number), value: (row) => row.number },
];

function length(row: Incident): number {
  const end = parseTime(row.resolved_at) ?? tick();
  return Math.max(0, Math.round((end - Date.parse(row.opened_at)) / 1000));
}

function Status(props: { row: Row }): JSX.Element {
  const by = () => who(props.row.state.acknowledgedBy);
  return <StateMark state={props.row.state.word} word={props.row.state.word === 'acknowledged' && by() !== '' ? `held by ${by()}` : props.row.state.word} />;
}

async function loadIncidents(status: string, signal: AbortSignal): Promise<Row[]> {
  const open = status === 'open' || status === 'acknowledged';
  const wanted = open ? { status: 'open' } : status === 'resolved' ? { status: 'resolved' } : {};
  const [incidents, alerts] = await Promise.all([
    allItems<Incident>('api/incidents', wanted, open ? kMostOpen : kMostOver, signal),
    status === 'resolved' ? Promise.resolve([]) : allItems<Alert>('api/alerts', { status: 'open' }, kMostOpen, signal),
  ]);
  const known = byIncident(alerts);
  const rows = incidents.map((one) => ({ ...one, state: incidentState(one, known.get(one.id) ?? []) }));
  return status === 'acknowledged' || status === 'open' ? rows.filter((row) => row.state.word === status) : rows;
}

function IncidentList(): JSX.Element {
  const status = () => kStatuses.find((one) => one.id === query('status'))?.id ?? 'open';
  const list = fetched(status, loadIncidents, { events: ['incident_changed', ...kAlertEvents], every: 60, soonest: 1500 });
  const passes = createMemo(() => compileFilter(parseFilter(query('filter'), kIncidentFilter.fields.map((one) => one.name)), kIncidentFilter));
  const shown = createMemo<readonly Row[]>((before) => keepRows(before, (list.data() ?? []).filter(passes()), (row) => row.id), []);
  const [selected, setSelected] = createSignal<ReadonlySet<string>>(new Set());
  const chosen = () => shown().filter((row) => selected().has(row.id));
  const done = () => {
    setSelected(new Set<string>());
    list.refetch();
  };
  return (
    <div class="incidents-list fill-column">
      <div class="row">
        <SpanChoice label="Status" spans={kStatuses} value={status()} onChange={(id) => setQuery({ status: id === 'open' ? '' : id })} />
        <FilterInput label="Filter incidents" placeholder="severity:critical,major device:core* text" schema={kIncidentFilter} value={query('filter')} onInput={(filter) => setQuery({ filter })} />
      </div>
      <Show when={chosen().length > 0}><BulkBar rows={chosen()} onDone={done} onClear={() => setSelected(new Set<string>())} /></Show>
      <Loaded data={list.data()} problem={list.problem()} retry={list.refetch} lines={8}>
        {() => (
          <Table
            id="incidents"
            label="Incidents"
            noun="incident"
            columns={kColumns}
            rows={shown()}
            rowKey={(row) => row.id}
            sort={{ column: 'since', descending: true }}
            selected={selected()}
            onSelect={setSelected}
            onOpen={(row) => navigate(href('/incidents/:id', { id: row.id }))}
            card={(row) => <Card row={row} />}
            cardHeight={64}
            empty={<Empty status={status()} filtered={query('filter') !== ''} />}
            foot={<Show when={(list.data() ?? []).length >= kMostOver && status() !== 'open'}><span>the newest {count(kMostOver)}</span></Show>}
          />
        )}
      </Loaded>
    </div>
  );
}

function Empty(props: { status: string; filtered: boolean }): JSX.Element {
  return (
    <Show when={!props.filtered} fallback={<EmptyState icon="search" title="Nothing matches the filter"><Button onClick={() => setQuery({ filter: '' })}>Clear the filter</Button></EmptyState>}>
      <EmptyState
        icon="check"
        title={props.status === 'open' ? 'Nothing is wrong that nobody has' : `No ${props.status === 'all' ? '' : `${props.status} `}incidents`}
        text={props.status === 'open' ? 'Incidents that somebody acknowledged are under “Acknowledged”.' : 'Incidents come from alerts, and stay listed after they are over.'}
      />
    </Show>
  );
}

function Card(props: { row: Row }): JSX.Element {
  return (
    <div class="alert-card">
      <span class="row"><StateMark state={props.row.severity} short /><a class="cut" href={href('/incidents/:id', { id: props.row.id })}>{props.row.title}</a></span>
      <span class="row small muted">
        <Status row={props.row} /><span class="cut">{props.row.device_name}</span><Show when={props.row.affected > 0}><Badge>{props.row.affected} affected</Badge></Show><span class="spring" /><Time at={props.row.opened_at} relative />
      </span>
    </div>
  );
}

/** The same act for many incidents, one after the other; says how many went well. */
async function forEach(rows: readonly Row[], verb: 'acknowledge' | 'resolve', body: AckBody, word: string): Promise<void> {
  let done = 0;
  let failure: unknown = null;
  for (const row of rows) {
    try {
      await api.post(path`api/incidents/${row.id}/${verb}`, body);
      done += 1;
    } catch (error) {
      failure = error;
    }
  }
  if (done > 0) toast('ok', `${plural(done, 'incident')} ${word}`);
  if (failure !== null) toastProblem(failure, `${plural(rows.length - done, 'incident')} could not be ${word}`);
}

function BulkBar(props: { rows: readonly Row[]; onDone: () => void; onClear: () => void }): JSX.Element {
  const [ack, setAck] = createSignal(false);
  const open = () => props.rows.filter((row) => row.status === 'open');
  const over = () => (open().length === 0 ? 'All of these are over.' : undefined);
  const resolve = async () => {
    const yes = await confirm({
      title: `Resolve ${plural(open().length, 'incident')}?`,
      text: 'All their alerts count as over, whatever devices say. What is still wrong is raised again by the next poll.',
      action: 'Resolve', danger: true, reason: 'required',
    });
    if (yes === null) return;
    await forEach(open(), 'resolve', { note: yes.reason }, 'resolved');
    props.onDone();
  };
  useKeys('Selected incidents', { a: ['Acknowledge', () => over() === undefined && whyNot('operate') === undefined && setAck(true)] });
  return (
    <div class="bulk-bar" role="region" aria-label="What to do with the selected incidents">
      <strong>{plural(props.rows.length, 'incident')} selected</strong>
      <Button dense icon="check" disabledReason={whyNot('operate') ?? over()} onClick={() => setAck(true)}>Acknowledge</Button>
      <Button dense kind="danger" disabledReason={whyNot('operate') ?? over()} onClick={() => void resolve()}>Resolve</Button>
      <span class="spring" />
      <Button dense kind="quiet" onClick={props.onClear}>Clear the selection</Button>
      <Show when={ack()}>
        <AckDialog title={`Acknowledge ${plural(open().length, 'incident')}`} onClose={() => setAck(false)} act={async (body) => (await forEach(open(), 'acknowledge', body, 'acknowledged'), props.onDone())} />
      </Show>
    </div>
  );
}

const kAlertStatuses = [
  { id: 'open', label: 'Open' }, { id: 'active', label: 'Active' }, { id: 'acknowledged', label: 'Acknowledged' }, { id: 'suppressed', label: 'Suppressed' },
  { id: 'pending', label: 'Pending' }, { id: 'resolved', label: 'Resolved' }, { id: 'all', label: 'All' },
] as const;

const kAlertFilter: FilterSchema<Alert> = {
  fields: [
    { name: 'severity', help: 'critical, major, minor, warning, info', kind: 'word', read: (row) => row.severity, values: () => kSeverities },
    { name: 'status', help: 'pending, active, acknowledged, suppressed, resolved', kind: 'word', read: (row) => row.status, values: () => ['pending', 'active', 'acknowledged', 'suppressed', 'resolved'] },
    { name: 'device', help: 'name of the device', kind: 'text', read: (row) => row.device_name ?? '' },
    { name: 'addon', help: 'what raised it', kind: 'word', read: (row) => row.addon ?? '' },
    { name: 'type', help: 'type of the alert', kind: 'word', read: (row) => row.alert_type ?? '' },
    { name: 'source', help: 'poll, message, health, self, external', kind: 'word', read: (row) => row.source, values: () => ['poll', 'message', 'health', 'self', 'external'] },
    { name: 'group', help: 'group of the device', kind: 'word', read: (row) => row.groups },
  ],
  text: (row) => `${row.title} ${row.message ?? ''} ${row.target ?? ''} ${row.device_ip ?? ''}`,
  label: (row, name) => row.labels[name],
};

function AlertList(): JSX.Element {
  const status = () => kAlertStatuses.find((one) => one.id === query('status'))?.id ?? 'open';
  const list = fetched(
    status,
    (now, signal) => allItems<Alert>('api/alerts', now === 'all' ? {} : { status: now }, now === 'all' || now === 'resolved' ? kMostOver : kMostOpen, signal),
    { events: kAlertEvents, every: 60, soonest: 1500 },
  );
  const shown = createMemo(() => (list.data() ?? []).filter(compileFilter(parseFilter(query('filter'), kAlertFilter.fields.map((one) => one.name)), kAlertFilter)));
  return (
    <div class="incidents-list fill-column">
      <div class="row">
        <SpanChoice label="Status" spans={kAlertStatuses} value={status()} onChange={(id) => setQuery({ status: id === 'open' ? '' : id })} />
        <FilterInput label="Filter alerts" placeholder="severity:critical device:core* label.site=berlin text" schema={kAlertFilter} value={query('filter')} onInput={(filter) => setQuery({ filter })} />
      </div>
      <Loaded data={list.data()} problem={list.problem()} retry={list.refetch} lines={8}>
        {() => (
          <AlertTable
            id="alerts"
            label="Alerts"
            alerts={shown()}
            onChanged={list.refetch}
            empty={<Empty status={status()} filtered={query('filter') !== ''} />}
            foot={<Show when={(list.data() ?? []).length >= kMostOver && (status() === 'all' || status() === 'resolved')}><span>the newest {count(kMostOver)}</span></Show>}
          />
        )}
      </Loaded>
    </div>
  );
}
