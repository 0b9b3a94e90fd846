// Alerts as a table, with what can be done about one and about many.
import { createMemo, createSignal, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { href, navigate } from '../app/router';
import { kSeverities } from '../api/model';
import { Badge, Button, StateMark, Table, Time } from '../design';
import type { Column } from '../design';
import { count, plural } from '../logic/format';
import { keepRows } from '../logic/keep_rows';
import { whyNot } from '../state/session';
import { AckDialog } from './AckDialog';
import { changeAlerts, resolveAlerts, unacknowledge } from './alert_acts';
import type { Alert } from './model';
import { matcher } from './silence';
import { SilenceDialog } from './SilenceDialog';
import { who } from './who';
import './parts.css';

export function alertLink(alert: Alert): string {
  return alert.incident ? href('/incidents/:id', { id: alert.incident }, { alert: alert.id }) : href('/alerts/:id', { id: alert.id });
}

const kColumns: readonly Column<Alert>[] = [
  {
    id: 'severity', title: 'Severity', width: '110px', fixed: true,
    cell: (row) => <StateMark state={row.severity} />, value: (row) => kSeverities.indexOf(row.severity),
  },
  { id: 'status', title: 'Status', width: '205px', cell: (row) => <StatusMarks alert={row} />, value: (row) => row.status },
  { id: 'title', title: 'What', width: 'minmax(220px, 3fr)', fixed: true, cell: (row) => <a class="cut" href={alertLink(row)} title={row.message ?? row.title}>{row.title}</a>, value: (row) => row.title },
  {
    id: 'target', title: 'Target', width: 'minmax(190px, 2fr)',
    cell: (row) => <Show when={row.target} fallback={<span class="muted">{row.device_name ?? row.source}</span>}>{(key) => <a href={href('/targets/:key', { key: key() })}>{key()}</a>}</Show>,
    value: (row) => row.target ?? row.device_name,
  },
  { id: 'first', title: 'Since', width: '110px', cell: (row) => <Time at={row.first_seen} relative />, value: (row) => Date.parse(row.first_seen ?? '') },
  { id: 'last', title: 'Last seen', width: '110px', hidden: true, cell: (row) => <Time at={row.last_seen} relative />, value: (row) => Date.parse(row.last_seen ?? '') },
  { id: 'ended', title: 'Resolved', width: '110px', hidden: true, cell: (row) => <Time at={row.resolved_at} relative none="–" />, value: (row) => Date.parse(row.resolved_at ?? '') },
  { id: 'times', title: 'Seen', width: '70px', end: true, help: 'How often it was seen', cell: (row) => count(row.occurrence_count), value: (row) => row.occurrence_count },
  { id: 'type', title: 'Type', width: '140px', hidden: true, cell: (row) => <span class="mono">{row.alert_type}</span>, value: (row) => row.alert_type },
  { id: 'by', title: 'Acknowledged by', width: '140px', hidden: true, cell: (row) => who(row.acknowledged_by), value: (row) => row.acknowledged_by },
];

function StatusMarks(props: { alert: Alert }): JSX.Element {
  return (
    <span class="alert-status">
      <StateMark state={props.alert.status} />
      <Show when={props.alert.flapping}><Badge tone="warn" title="It changes too often; people are told only now and then">flapping</Badge></Show>
      <Show when={props.alert.stale}><Badge tone="stale" title="What raised it cannot be asked at present">stale</Badge></Show>
    </span>
  );
}

function AlertCard(props: { alert: Alert }): JSX.Element {
  return (
    <div class="alert-card">
      <span class="row"><StateMark state={props.alert.severity} short /><a class="cut" href={alertLink(props.alert)}>{props.alert.title}</a></span>
      <span class="row small muted">
        <StateMark state={props.alert.status} /><span class="cut">{props.alert.target ?? props.alert.device_name}</span><span class="spring" /><Time at={props.alert.first_seen} relative />
      </span>
    </div>
  );
}

export function AlertTable(props: {
  id: string;
  label: string;
  alerts: readonly Alert[];
  grow?: number;
  empty?: JSX.Element;
  foot?: JSX.Element;
  hide?: readonly string[];
  onChanged: () => void;
}): JSX.Element {
  const [selected, setSelected] = createSignal<ReadonlySet<string>>(new Set());
  // An event about one alert does not draw all of them anew.
  const rows = createMemo<readonly Alert[]>((before) => keepRows(before, props.alerts, (row) => row.id), []);
  const chosen = () => rows().filter((one) => selected().has(one.id));
  const columns = createMemo(() => kColumns.filter((one) => !(props.hide ?? []).includes(one.id)));
  const done = () => {
    setSelected(new Set<string>());
    props.onChanged();
  };
  return (
    <>
      <Show when={chosen().length > 0}><AlertBulkBar alerts={chosen()} onDone={done} onClear={() => setSelected(new Set<string>())} /></Show>
      <Table
        id={props.id}
        label={props.label}
        noun="alert"
        columns={columns()}
        rows={rows()}
        rowKey={(row) => row.id}
        sort={{ column: 'first', descending: true }}
        selected={selected()}
        onSelect={setSelected}
        onOpen={(row) => navigate(alertLink(row))}
        card={(row) => <AlertCard alert={row} />}
        cardHeight={62}
        {...(props.grow === undefined ? {} : { grow: props.grow })}
        empty={props.empty}
        foot={props.foot}
      />
    </>
  );
}

/** Acknowledge, take back, resolve and silence what is selected. */
export function AlertBulkBar(props: { alerts: readonly Alert[]; onDone: () => void; onClear: () => void }): JSX.Element {
  const [asks, setAsks] = createSignal<'' | 'ack' | 'silence'>('');
  const ids = () => props.alerts.map((one) => one.id);
  const open = () => props.alerts.filter((one) => one.status !== 'resolved').map((one) => one.id);
  const held = () => props.alerts.filter((one) => one.status === 'acknowledged').map((one) => one.id);
  const devices = () => [...new Set(props.alerts.map((one) => one.device_name).filter((one) => one !== undefined))];
  const over = () => (open().length === 0 ? 'All of these are resolved.' : undefined);
  return (
    <div class="bulk-bar" role="region" aria-label="What to do with the selected alerts">
      <strong>{plural(ids().length, 'alert')} selected</strong>
      <Button dense icon="check" disabledReason={whyNot('operate') ?? over()} onClick={() => setAsks('ack')}>Acknowledge</Button>
      <Button dense disabledReason={whyNot('operate') ?? (held().length === 0 ? 'None of these is acknowledged.' : undefined)} onClick={() => void unacknowledge(held()).then((ok) => ok && props.onDone())}>Take back</Button>
      <Button dense icon="silence" disabledReason={whyNot('operate') ?? (devices().length === 1 ? undefined : 'Select alerts of one device to silence it.')} onClick={() => setAsks('silence')}>Silence</Button>
      <Button dense kind="danger" disabledReason={whyNot('operate') ?? over()} onClick={() => void resolveAlerts(open(), plural(open().length, 'alert')).then((ok) => ok && props.onDone())}>Resolve</Button>
      <span class="spring" />
      <Button dense kind="quiet" onClick={props.onClear}>Clear the selection</Button>
      <Show when={asks() === 'ack'}>
        <AckDialog title={`Acknowledge ${plural(open().length, 'alert')}`} onClose={() => setAsks('')} act={async (body) => (await changeAlerts('acknowledge', open(), body), props.onDone())} />
      </Show>
      <Show when={asks() === 'silence'}>
        <SilenceDialog about={devices()[0] ?? ''} scopes={[{ label: 'The device', matchers: [matcher('device', devices()[0] ?? '')] }]} onClose={() => setAsks('')} onDone={props.onDone} />
      </Show>
    </div>
  );
}
