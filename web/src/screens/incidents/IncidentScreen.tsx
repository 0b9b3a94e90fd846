// One incident: its cause and what follows from it as a tree, the evidence, the timeline, who was
// told, and what people can do about it.
import { createMemo, createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { useKeys } from '../../app/keys';
import { href, param, query, setQuery } from '../../app/router';
import { api, asProblem, path } from '../../api/client';
import type { Welcome } from '../../api/model';
import { Button, CheckField, confirm, ErrorState, Icon, Menu, Skeleton, StateMark, TextAreaField, Time, toast, toastProblem } from '../../design';
import { parseTime, tick } from '../../logic/clock';
import { count, duration, plural } from '../../logic/format';
import { AckDialog } from '../../parts/AckDialog';
import { unacknowledge } from '../../parts/alert_acts';
import { fetched } from '../../parts/fetched';
import { ObjectPage } from '../../parts/ObjectPage';
import type { Alert, AlertPage, AlertStats, IncidentPage } from '../../parts/model';
import { ReviewNote } from '../../parts/ReviewNote';
import { matcher } from '../../parts/silence';
import { SilenceDialog } from '../../parts/SilenceDialog';
import { who } from '../../parts/who';
import { whyNot } from '../../state/session';
import { branches, incidentState } from './incident_state';
import type { Branch } from './incident_state';
import { Evidence, Timeline, Told } from './Story';
import './incidents.css';

const kAlertEvents = ['alert_created', 'alert_updated', 'alert_resolved'] as const;

export default function IncidentScreen(): JSX.Element {
  const id = () => param('id');
  const incident = fetched(id, (wanted, signal) => api.get<IncidentPage>(path`api/incidents/${wanted}`, { signal }), {
    events: ['incident_changed', ...kAlertEvents],
    concerns: (event) => event.key === id() || (event.data as { incident?: string }).incident === id(),
    every: 30,
  });
  return (
    <ObjectPage object={incident} none={{ title: 'There is no such incident', text: 'It was forgotten, or its root is not in your part of the fleet.', link: href('/incidents'), linkText: 'All incidents' }}>
      {(now) => <Loaded incident={now()} refetch={incident.refetch} />}
    </ObjectPage>
  );
}

function Loaded(props: { incident: IncidentPage; refetch: () => void }): JSX.Element {
  const all = createMemo((): Alert[] => {
    const root = props.incident.root_alert;
    return root ? [root, ...props.incident.affected_alerts.filter((one) => one.id !== root.id)] : props.incident.affected_alerts;
  });
  const stats = fetched(() => 'stats', (_, signal) => api.get<AlertStats>('api/alerts/stats', { signal }), { every: 60 });
  const shown = createMemo(() => all().find((one) => one.id === query('alert'))?.id ?? props.incident.root_alert?.id ?? all()[0]?.id);
  const alert = fetched(shown, (wanted, signal) => api.get<AlertPage>(path`api/alerts/${wanted}`, { signal }), {
    events: kAlertEvents, concerns: (event) => (event.data as { id?: string }).id === shown(), every: 60,
  });
  const title = (wanted: string) => all().find((one) => one.id === wanted)?.title;
  return (
    <div class="page">
      <Head incident={props.incident} alerts={all()} refetch={props.refetch} />
      <ReviewNote stats={stats.data()} onChange={stats.refetch} />
      <div class="incident-columns">
        <div class="stack">
          <Tree incident={props.incident} alerts={all()} shown={shown()} />
          <section class="panel" aria-label="Evidence">
            <div class="panel-head"><h2>Evidence</h2><span class="spring" /><Show when={shown()}>{(wanted) => <a class="small" href={href('/alerts/:id', { id: wanted() })}>This alert alone</a>}</Show></div>
            <div class="panel-body">
              <Show when={alert.data()} fallback={<Show when={alert.problem()} fallback={<Show when={shown()} fallback={<p class="muted">There is no single alert behind it.</p>}><Skeleton lines={4} /></Show>}>{(problem) => <ErrorState problem={problem()} retry={alert.refetch} />}</Show>}>
                {(now) => (<div class="stack"><strong>{now().title}</strong><Evidence alert={now()} /></div>)}
              </Show>
            </div>
          </section>
        </div>
        <div class="stack">
          <Notes incident={props.incident} refetch={props.refetch} />
          <Timeline entries={props.incident.timeline} title={title} />
          <Told notifications={props.incident.notifications} changed={props.refetch} />
        </div>
      </div>
    </div>
  );
}

const kCauses: Record<string, string> = {
  alert: 'A problem of its own.',
  device: 'A device that others stand behind does not answer. It was asked again before anybody was told.',
  observer: 'Pollux itself is cut off: its uplink, its name server or its own loop. What it says about devices is not to be believed now.',
};

function Head(props: { incident: IncidentPage; alerts: readonly Alert[]; refetch: () => void }): JSX.Element {
  const [asks, setAsks] = createSignal<'' | 'ack' | 'silence'>('');
  const state = () => incidentState(props.incident, props.alerts);
  const root = () => props.incident.root_alert;
  const held = () => props.alerts.filter((one) => one.status === 'acknowledged').map((one) => one.id);
  const over = () => (props.incident.status === 'resolved' ? 'It is over.' : undefined);
  const end = () => parseTime(props.incident.resolved_at) ?? tick();
  const first = () => props.alerts.find((one) => one.acknowledged_at !== undefined && one.status === 'acknowledged');
  const url = (verb: string) => `${path`api/incidents/${props.incident.id}`}/${verb}`;
  const resolve = async () => {
    const yes = await confirm({
      title: 'Resolve this incident?',
      text: `${plural(state().open, 'open alert')} count as over, whatever devices say. What is still wrong is raised again by the next poll, as a new incident.`,
      action: 'Resolve', danger: true, reason: 'required',
    });
    if (yes === null) return;
    try {
      await api.post(url('resolve'), { note: yes.reason });
      toast('ok', 'The incident is resolved');
      props.refetch();
    } catch (error) {
      toastProblem(error, 'The incident could not be resolved');
    }
  };
  const scopes = () => [
    ...(props.incident.device_name ? [{ label: `The device ${props.incident.device_name}`, matchers: [matcher('device', props.incident.device_name)] }] : []),
    ...(root()?.target ? [{ label: `The target ${root()?.target ?? ''}`, matchers: [matcher('target', root()?.target ?? '')] }] : []),
    ...(root()?.alert_type ? [{ label: `Alerts of this type there`, matchers: [matcher('device', root()?.device_name ?? ''), matcher('alertname', root()?.alert_type ?? '')] }] : []),
  ];
  const canAck = () => whyNot('operate') ?? over() ?? (state().word === 'acknowledged' ? 'Somebody has it already.' : undefined);
  const canSilence = () => whyNot('operate') ?? (scopes().length === 0 ? 'It belongs to no device that could be silenced.' : undefined);
  useKeys('Incident', {
    a: ['Acknowledge', () => canAck() === undefined && setAsks('ack')],
    s: ['Silence', () => canSilence() === undefined && setAsks('silence')],
  });
  return (
    <header class="incident-head">
      <a class="small muted incident-back" href={href('/incidents')}><Icon name="left" size={13} />Incidents</a>
      <div class="page-head">
        <StateMark state={props.incident.severity} size={16} />
        <h1 class="incident-title">{props.incident.title}</h1>
        <span class="spring" />
        <Show when={state().word === 'acknowledged'} fallback={<Button kind="primary" icon="check" disabledReason={canAck()} onClick={() => setAsks('ack')}>Acknowledge</Button>}>
          <Button disabledReason={whyNot('operate')} onClick={() => void unacknowledge(held()).then((ok) => ok && props.refetch())}>Take back</Button>
        </Show>
        <Button icon="silence" disabledReason={canSilence()} onClick={() => setAsks('silence')}>Silence</Button>
        <Menu label="More" icon="more" bare align="end" entries={() => [
          { label: 'Change the acknowledgement…', icon: 'edit', disabledReason: whyNot('operate') ?? over(), run: () => setAsks('ack') },
          { label: 'Resolve…', icon: 'check', danger: true, disabledReason: whyNot('operate') ?? over(), run: () => void resolve() },
        ]} />
      </div>
      <p class="incident-summary">
        <StateMark state={state().word} />
        <span>
          {props.incident.status === 'resolved' ? 'lasted' : 'for'} <strong>{duration(Math.max(0, Math.round((end() - Date.parse(props.incident.opened_at)) / 1000)))}</strong>
        </span>
        <span class="muted">opened <Time at={props.incident.opened_at} /></span>
        <Show when={props.incident.resolved_at}><span class="muted">over <Time at={props.incident.resolved_at} /></span></Show>
        <span class="muted">number {count(props.incident.number)}</span>
        <Show when={props.incident.device_name}>{(name) => <a href={href('/devices/:name', { name: name() })}>{name()}</a>}</Show>
      </p>
      <Show when={first()}>
        {(one) => (
          <p class="note-box tone-info">
            <Icon name="user" />
            <span class="what">
              <strong>{who(one().acknowledged_by)}</strong> has it since <Time at={one().acknowledged_at} />
              <Show when={one().acknowledged_until}>, until <Time at={one().acknowledged_until} /></Show>
              {one().acknowledged_sticky === false ? '; it ends when it becomes worse' : ''}
              <Show when={one().acknowledged_note}>: “{one().acknowledged_note}”</Show>
            </span>
          </p>
        )}
      </Show>
      <Show when={asks() === 'ack'}>
        <AckDialog
          title="Acknowledge this incident"
          text="It stands for all its open alerts. Reminders and escalation stop; the recovery is still told."
          onClose={() => setAsks('')}
          act={async (body) => {
            await api.post(url('acknowledge'), body);
            toast('ok', 'The incident is acknowledged');
            props.refetch();
          }}
        />
      </Show>
      <Show when={asks() === 'silence'}><SilenceDialog about={props.incident.device_name ?? props.incident.title} scopes={scopes()} onClose={() => setAsks('')} onDone={props.refetch} /></Show>
    </header>
  );
}

const kFirstBranches = 20;

function Tree(props: { incident: IncidentPage; alerts: readonly Alert[]; shown: string | undefined }): JSX.Element {
  const below = createMemo(() => branches(props.incident.root_alert, props.alerts));
  const [all, setAll] = createSignal(false);
  const some = () => (all() ? below() : below().slice(0, kFirstBranches));
  return (
    <section class="panel" aria-label="Cause and what follows from it">
      <div class="panel-head"><h2>Cause and what follows</h2><span class="muted small">{kCauses[props.incident.cause]}</span></div>
      <ul class="incident-tree">
        <li>
          <Show when={props.incident.root_alert} fallback={<span class="row"><StateMark state={props.incident.severity} /><strong>{props.incident.title}</strong></span>}>
            {(root) => <Node alert={root()} root shown={props.shown} />}
          </Show>
          <Show when={below().length > 0}>
            <ul>
              <For each={some().map((one) => one.device)}>{(device) => <BranchNode branch={below().find((one) => one.device === device)} own={device === props.incident.device_name} shown={props.shown} />}</For>
            </ul>
          </Show>
        </li>
      </ul>
      <Show when={below().length > kFirstBranches && !all()}>
        <div class="panel-body"><Button dense kind="quiet" icon="down" onClick={() => setAll(true)}>{below().length - kFirstBranches} more devices</Button></div>
      </Show>
      <Show when={props.incident.more_alerts}>
        <p class="panel-body muted small">There are more alerts than are listed here: <a href={href('/incidents', {}, { view: 'alerts' })}>all alerts</a>.</p>
      </Show>
      <Show when={below().length === 0}><p class="panel-body muted small">Nothing else follows from it.</p></Show>
    </section>
  );
}

function BranchNode(props: { branch: Branch | undefined; own: boolean; shown: string | undefined }): JSX.Element {
  const alerts = () => props.branch?.alerts ?? [];
  return (
    <Show when={alerts().length > 1} fallback={<For each={alerts().map((one) => one.id)}>{(id) => <li><Node alert={alerts().find((one) => one.id === id)} shown={props.shown} /></li>}</For>}>
      <li>
        <span class="row incident-branch">
          <Icon name="tree" size={13} />
          <a href={href('/devices/:name', { name: props.branch?.device ?? '' })}>{props.branch?.device === '' ? 'no device' : props.branch?.device}</a>
          <span class="muted small">{props.own ? 'the same device, ' : ''}{plural(alerts().length, 'alert')}</span>
        </span>
        <ul><For each={alerts().map((one) => one.id)}>{(id) => <li><Node alert={alerts().find((one) => one.id === id)} shown={props.shown} /></li>}</For></ul>
      </li>
    </Show>
  );
}

function Node(props: { alert: Alert | undefined; root?: boolean; shown: string | undefined }): JSX.Element {
  return (
    <Show when={props.alert}>
      {(alert) => (
        <button
          type="button"
          class="incident-node"
          classList={{ root: props.root === true, over: alert().status === 'resolved' }}
          aria-pressed={alert().id === props.shown}
          title="Show its evidence"
          onClick={() => setQuery({ alert: alert().id })}
        >
          <StateMark state={alert().severity} short />
          <span class="incident-node-title">{alert().title}</span>
          <StateMark state={alert().status} />
          <Show when={alert().suppressed_by === 'parent' && alert().status === 'acknowledged'}><span class="muted small">a consequence</span></Show>
          <Show when={alert().suppressed_by === 'observer' && alert().status !== 'resolved'}><span class="muted small">not to be believed now</span></Show>
        </button>
      )}
    </Show>
  );
}

function Notes(props: { incident: IncidentPage; refetch: () => void }): JSX.Element {
  const [text, setText] = createSignal('');
  const [open, setOpen] = createSignal(false);
  const [busy, setBusy] = createSignal(false);
  // A server without this operation knows no public notes either.
  const welcome = fetched(() => 'welcome', (_, signal) => api.get<Welcome>('api/welcome', { signal, quiet401: true }).catch(() => null));
  const save = async () => {
    if (busy() || text().trim() === '') return;
    setBusy(true);
    try {
      await api.post(path`api/incidents/${props.incident.id}/notes`, { note: text().trim(), ...(open() ? { public: true } : {}) });
      toast('ok', open() ? 'The note is written, and shown on the status page' : 'The note is written');
      setText('');
      props.refetch();
    } catch (error) {
      toastProblem(asProblem(error), 'The note could not be written');
    } finally {
      setBusy(false);
    }
  };
  return (
    <section class="panel" aria-label="Notes">
      <div class="panel-head"><h2>Notes</h2></div>
      <div class="panel-body stack">
        <For each={[...props.incident.notes].reverse()}>
          {(note) => (
            <div class="incident-note-entry">
              <div class="incident-note">{note.text}</div>
              <div class="muted small">{who(note.by)} <Time at={note.at} relative />{note.public ? ', on the status page' : ''}</div>
            </div>
          )}
        </For>
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
        >
          <TextAreaField label="Write a note" rows={2} value={text()} onInput={setText} placeholder="for everybody who reads it later" />
          <Show when={welcome.data()}>
            {(page) => <CheckField label="Show it on the public status page" value={open()} onChange={setOpen} help={page().status_page ? 'Everybody can read it there: no names of devices, no addresses.' : 'The status page is switched off at present.'} />}
          </Show>
          <div><Button type="submit" busy={busy()} disabledReason={whyNot('operate') ?? (text().trim() === '' ? 'Write something first.' : undefined)}>Add the note</Button></div>
        </form>
      </div>
    </section>
  );
}
