// One device: what is polled on it and how that goes, what it stands behind and what stands behind
// it, its alerts, and its settings.
import { createMemo, createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { useKeys } from '../../app/keys';
import { href, navigate, param, query, setQuery } from '../../app/router';
import { allItems, api, path } from '../../api/client';
import { kTargetStates } from '../../api/model';
import type { TargetState } from '../../api/model';
import { AgeRing, Badge, Button, Countdown, EmptyState, Fact, Icon, Loaded, Menu, StateMark, Tabs, Time } from '../../design';
import { parseTime } from '../../logic/clock';
import { termOf } from '../../logic/filter';
import { duration, plural } from '../../logic/format';
import { AlertTable } from '../../parts/AlertTable';
import { fetched } from '../../parts/fetched';
import { ObjectPage } from '../../parts/ObjectPage';
import type { Alert, Change, FleetObject, TargetObject } from '../../parts/model';
import { adoptDevice, OriginNote, whyNotEdit } from '../../parts/OriginNote';
import { matcher } from '../../parts/silence';
import { SilenceDialog } from '../../parts/SilenceDialog';
import { SpecEditor } from '../../parts/SpecEditor';
import { namesOf, showSpec, textOf } from '../../parts/spec_form';
import { kSpans, SpanChoice, StateStrip, StripLegend } from '../../parts/StateStrip';
import { deleteDevice } from '../../parts/target_acts';
import { stateOfTasks } from '../../parts/target_state';
import { fleet } from '../../state/fleet';
import { targetOf } from '../../state/fleet_book';
import { whyNot } from '../../state/session';
import { pauseAll, paused, pollAll, resumeAll, running } from './acts';
import { Cost } from './Cost';
import { SnmpProfile } from './SnmpProfile';
import './device.css';

const kEvents = ['poll_result', 'task_state_changed'] as const;
const kLegend = new Map<TargetState, null>((['up', 'degraded', 'down', 'disabled', 'unknown'] as const).map((state) => [state, null]));
const kAlertEvents = ['alert_created', 'alert_updated', 'alert_resolved'] as const;

export default function DeviceScreen(): JSX.Element {
  const name = () => param('name');
  const device = fetched(name, (wanted, signal) => api.get<FleetObject>(path`api/devices/${wanted}`, { signal }), { every: 60 });
  return (
    <ObjectPage object={device} none={{ title: 'There is no such device', text: `${name()} is not in the fleet, or not in your part of it.`, link: href('/fleet'), linkText: 'To the fleet' }}>
      {(now) => <Page device={now()} refetch={device.refetch} />}
    </ObjectPage>
  );
}

/** The worst state counts for the device. */
function worst(targets: readonly TargetObject[]): TargetState {
  const states = targets.map(stateOf);
  return kTargetStates.find((state) => states.includes(state)) ?? 'unknown';
}

function stateOf(target: TargetObject): TargetState {
  const known = fleet.find(target.key);
  known?.track();
  return known?.state ?? stateOfTasks(target.tasks);
}

function Page(props: { device: FleetObject; refetch: () => void }): JSX.Element {
  const name = createMemo(() => props.device.name);
  const targets = fetched(name, (wanted, signal) => allItems<TargetObject>('api/targets', { device: wanted }, 500, signal), {
    events: kEvents, concerns: (event) => event.key !== undefined && targetOf(event.key).endsWith(`::${name()}`), every: 30, soonest: 1500,
  });
  const alerts = fetched(name, (wanted, signal) => allItems<Alert>('api/alerts', { device_name: wanted }, 500, signal), {
    events: kAlertEvents, concerns: (event) => (event.data as { device_name?: string }).device_name === name(), every: 60,
  });
  const open = () => (alerts.data() ?? []).filter((one) => one.status !== 'resolved');
  const [asks, setAsks] = createSignal<'' | 'silence' | 'edit'>('');
  const changed = () => {
    props.refetch();
    targets.refetch();
    void fleet.refresh();
  };
  const editable = () => whyNotEdit(props.device.origin);
  const list = () => targets.data() ?? [];
  const [busy, setBusy] = createSignal(false);
  const run = (act: typeof pauseAll) => {
    setBusy(true);
    void act(name(), list()).then((done) => done && changed()).finally(() => setBusy(false));
  };
  // Without targets neither can be done; what is half paused can be both.
  const none = () => whyNot('operate') ?? (list().length === 0 ? 'Nothing is polled on it.' : undefined);
  useKeys('Device', {
    p: ['Poll all its targets now', () => void (none() === undefined && pollAll(name(), list()))],
    e: ['Edit', () => editable() === undefined && setAsks('edit')],
    s: ['Silence', () => whyNot('operate') === undefined && setAsks('silence')],
  });
  const load = async () => {
    const { data, etag } = await api.full<FleetObject>('GET', path`api/devices/${name()}`, {});
    return { spec: data.spec, etag };
  };
  const save = async (spec: Record<string, unknown>, etag: string | null, reason: string) => {
    await api.put(path`api/devices/${name()}`, reason === '' ? spec : { ...spec, reason }, etag === null ? {} : { ifMatch: etag });
  };
  return (
    <div class="page">
      <header class="object-head">
        <div class="page-head">
          <Show when={targets.data()} fallback={<StateMark state="unknown" size={16} />}>{(all) => <StateMark state={worst(all())} size={16} />}</Show>
          <h1 class="object-name">{name()}</h1>
          <span class="spring" />
          <Button kind="primary" icon="play" disabledReason={none()} onClick={() => void pollAll(name(), list())}>Poll all now</Button>
          <Show
            when={running(list()).length === 0 && paused(list()).length > 0}
            fallback={<Button icon="pause" busy={busy()} disabledReason={none() ?? (running(list()).length === 0 ? 'What is on it only listens.' : undefined)} onClick={() => run(pauseAll)}>Pause all</Button>}
          >
            <Button icon="play" busy={busy()} disabledReason={whyNot('operate')} onClick={() => run(resumeAll)}>Resume all</Button>
          </Show>
          <Button icon="silence" disabledReason={whyNot('operate')} onClick={() => setAsks('silence')}>Silence</Button>
          <Button icon="edit" disabledReason={editable()} onClick={() => setAsks('edit')}>Edit</Button>
          <Menu label="More" icon="more" bare align="end" entries={() => [
            { label: 'Resume all…', icon: 'play', disabledReason: whyNot('operate') ?? (paused(list()).length === 0 ? 'Nothing of it is paused.' : undefined), run: () => run(resumeAll) },
            { label: 'Adopt…', icon: 'lock', disabledReason: whyNot('manage') ?? (props.device.origin === 'api' ? 'It is edited here already.' : undefined), run: () => void adoptDevice(name()).then((ok) => ok && changed()) },
            { kind: 'line' },
            { label: 'Delete…', icon: 'trash', danger: true, disabledReason: editable(), run: () => void deleteDevice(name()).then((ok) => ok && navigate(href('/fleet'))) },
          ]} />
        </div>
        <Facts device={props.device} targets={list()} />
      </header>
      <OriginNote device={props.device} adopted={changed} />
      <Tabs
        label="Device"
        now={query('tab')}
        onChange={(tab) => setQuery({ tab: tab === 'targets' ? '' : tab })}
        tabs={[
          {
            id: 'targets', title: 'Targets',
            get count() {
              return targets.data()?.length;
            },
            content: () => (
              <div class="stack">
                <Loaded data={targets.data()} problem={targets.problem()} retry={targets.refetch} lines={5}>
                  {(all) => <Targets targets={all()} />}
                </Loaded>
                <Cost device={name()} />
              </div>
            ),
          },
          {
            id: 'alerts', title: 'Alerts',
            get count() {
              return open().length > 0 ? open().length : undefined;
            },
            content: () => (
              <div class="stack">
                <Loaded data={alerts.data()} problem={alerts.problem()} retry={alerts.refetch} title="The alerts could not be loaded" lines={4}>
                  {(rows) => <AlertTable id="device-alerts" label={`Alerts of ${name()}`} alerts={rows()} grow={18} onChanged={alerts.refetch} empty={<EmptyState icon="check" title="No alerts" text="Nothing was ever raised about this device, or it is forgotten." />} />}
                </Loaded>
              </div>
            ),
          },
          {
            id: 'snmp', title: 'SNMP',
            content: () => <SnmpProfile name={name()} />,
          },
          {
            id: 'settings', title: 'Settings',
            content: () => (
              <section class="panel" aria-label="Settings">
                <div class="panel-head">
                  <h2>Settings</h2><Badge tone={props.device.origin === 'api' ? 'info' : 'mute'}>{props.device.origin}</Badge><span class="spring" />
                  <Button dense icon="edit" disabledReason={editable()} onClick={() => setAsks('edit')}>Edit</Button>
                </div>
                <div class="panel-body stack">
                  <pre class="object-spec mono">{showSpec(props.device.spec)}</pre>
                  <dl class="facts"><dt>Version</dt><dd>{props.device.version}, changed <Time at={props.device.changed_at} relative /></dd><dt>Id</dt><dd><code>{props.device.id}</code></dd></dl>
                </div>
              </section>
            ),
          },
        ]}
      />
      <Show when={asks() === 'silence'}>
        <SilenceDialog about={name()} scopes={[{ label: 'The device', matchers: [matcher('device', name())] }]} onClose={() => setAsks('')} />
      </Show>
      <Show when={asks() === 'edit'}>
        <SpecEditor title={`Settings of ${name()}`} kind="device" load={load} save={save} onClose={() => setAsks('')} onSaved={changed} />
      </Show>
    </div>
  );
}

function Facts(props: { device: FleetObject; targets: readonly TargetObject[] }): JSX.Element {
  const spec = () => props.device.spec;
  const labels = () => props.targets[0]?.labels ?? ((spec()['labels'] ?? {}) as Record<string, string>);
  const groups = () => props.targets[0]?.groups ?? [];
  const parents = () => namesOf(spec(), 'parents').split(/, | \| /).filter((one) => one !== '');
  const address = () => textOf(spec(), 'address') || (Array.isArray(spec()['addresses']) ? (spec()['addresses'] as unknown[]).join(', ') : '');
  const behind = createMemo(() => {
    const found = new Set<string>();
    for (const target of fleet.targets()) if (target.parents.includes(props.device.name)) found.add(target.device);
    return [...found].sort();
  });
  const [all, setAll] = createSignal(false);
  return (
    <div class="object-facts">
      <Show when={address() !== ''}><Fact name="Address"><span class="mono">{address()}</span></Fact></Show>
      <Show when={textOf(spec(), 'region') !== ''}><Fact name="Region">{textOf(spec(), 'region')}</Fact></Show>
      <Show when={textOf(spec(), 'credentials') !== ''}><Fact name="Credentials">{textOf(spec(), 'credentials')}</Fact></Show>
      <Fact name="Origin"><Badge tone={props.device.origin === 'api' ? 'info' : 'mute'}>{props.device.origin}</Badge></Fact>
      <Show when={groups().length > 0}><Fact name="Groups"><For each={groups()}>{(group) => <a class="chip" href={href('/fleet', {}, { filter: termOf('group', ':', group) })}>{group}</a>}</For></Fact></Show>
      <Show when={Object.keys(labels()).length > 0}><Fact name="Labels"><For each={Object.entries(labels())}>{([label, value]) => <a class="chip" href={href('/fleet', {}, { filter: termOf(`label.${label}`, '=', value) })}>{label}={value}</a>}</For></Fact></Show>
      <Show when={parents().length > 0}><Fact name="Stands behind"><For each={parents()}>{(parent) => <a class="chip" href={href('/devices/:name', { name: parent })}>{parent}</a>}</For><Show when={labels()['parents_discovered_by']}>{(job) => <a class="chip" href={href('/jobs/:id', { id: job() })}>discovered</a>}</Show></Fact></Show>
      <Show when={behind().length > 0}>
        <Fact name={`${plural(behind().length, 'device')} behind it`}>
          <For each={all() ? behind() : behind().slice(0, 6)}>{(child) => <a class="chip" href={href('/devices/:name', { name: child })}>{child}</a>}</For>
          <Show when={behind().length > 6 && !all()}><Button dense kind="quiet" onClick={() => setAll(true)}>{behind().length - 6} more</Button></Show>
        </Fact>
      </Show>
    </div>
  );
}

function Targets(props: { targets: readonly TargetObject[] }): JSX.Element {
  const span = () => kSpans.find((one) => one.id === query('span')) ?? kSpans[0];
  const keys = createMemo(() => props.targets.map((one) => one.key), [], { equals: (a, b) => a.join(' ') === b.join(' ') });
  return (
    <section class="panel" aria-label="Targets">
      <div class="panel-head">
        <h2>What is polled on it</h2><span class="spring" />
        <SpanChoice label="Time shown" spans={kSpans} value={span().id} onChange={(id) => setQuery({ span: id === '24h' ? '' : id })} />
      </div>
      <Show when={keys().length > 0} fallback={<EmptyState icon="fleet" title="Nothing is polled on it" text="Give it an addon in its settings." />}>
        <ul class="device-targets">
          <For each={keys()}>{(key) => <TargetLine target={props.targets.find((one) => one.key === key)} seconds={span().seconds} label={span().label} />}</For>
        </ul>
        <div class="panel-part device-legend"><StripLegend lengths={kLegend} /></div>
      </Show>
    </section>
  );
}

function TargetLine(props: { target: TargetObject | undefined; seconds: number; label: string }): JSX.Element {
  const key = createMemo(() => props.target?.key);
  const changes = fetched(key, (wanted, signal) => allItems<Change>(path`api/targets/${wanted}/changes`, {}, 2000, signal), {
    events: ['task_state_changed'], concerns: (event) => event.key !== undefined && targetOf(event.key) === key(), every: 120,
  });
  return (
    <Show when={props.target}>
      {(target) => {
        const task = () => target().tasks[0];
        return (
          <li class="device-target">
            <span class="device-target-state"><StateMark state={stateOf(target())} /></span>
            <a class="device-target-name" href={href('/targets/:key', { key: target().key })}>{target().addon}</a>
            <span class="device-target-number" title="Age of the last good answer"><AgeRing at={parseTime(task()?.last_success)} expected={task()?.interval ?? null} bound={task()?.bound ?? null} /></span>
            <span class="device-target-number muted small">every {duration(task()?.interval)}</span>
            <span class="device-target-number muted small">next <Countdown at={task()?.next_due} due="now" /></span>
            <span class="device-target-strip"><StateStrip compact now={changes.data() ? stateOf(target()) : 'unknown'} changes={changes.data() ?? []} seconds={props.seconds} label={`${target().key}, last ${props.label}`} /></span>
            <Show when={task()?.error && (task()?.failures ?? 0) > 0}><span class="device-target-error small"><Icon name="warning" size={13} /><span>{task()?.error}</span></span></Show>
          </li>
        );
      }}
    </Show>
  );
}
