// One target: what it is and was, its values, why it is polled when it is, its runs and alerts, and
// everything that can be done with it.
import { createMemo, createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { useKeys } from '../../app/keys';
import { href, navigate, param, query, setQuery } from '../../app/router';
import { allItems, api, asProblem, path } from '../../api/client';
import type { AddonParameter, TargetState, Tier } from '../../api/model';
import { AgeRing, Badge, Button, Countdown, EmptyState, Fact, Loaded, Menu, StateMark, Tabs, Time } from '../../design';
import type { MenuEntry } from '../../design';
import { parseTime, tick } from '../../logic/clock';
import { termOf } from '../../logic/filter';
import { duration } from '../../logic/format';
import { AlertTable } from '../../parts/AlertTable';
import { deadLetterWords } from '../../parts/dead_letter';
import { fetched } from '../../parts/fetched';
import type { Fetched } from '../../parts/fetched';
import { ObjectPage } from '../../parts/ObjectPage';
import type { Alert, Change, FleetObject, TargetObject, TaskRow } from '../../parts/model';
import { whyNotEdit } from '../../parts/OriginNote';
import { matcher } from '../../parts/silence';
import { SilenceDialog } from '../../parts/SilenceDialog';
import { kSpans, SpanChoice, StateStrip } from '../../parts/StateStrip';
import { deleteTarget, enableTarget, pauseTarget, pollNow } from '../../parts/target_acts';
import { stateOfTasks } from '../../parts/target_state';
import { fleet } from '../../state/fleet';
import { targetOf } from '../../state/fleet_book';
import { whyNot } from '../../state/session';
import { Certificate } from './Certificate';
import { Charts } from './Charts';
import { failureEntries } from './failure_entries';
import type { AddonMetric } from './history';
import { Runs } from './Runs';
import { TargetEditor, TargetSettings } from './TargetSettings';
import { useExplanation, WhyNow } from './WhyNow';
import { headline } from './why';
import type { Explanation } from './why';
import './target.css';

export interface AddonPage {
  name: string;
  title: string;
  protocol: string;
  metrics: AddonMetric[];
  parameters: AddonParameter[];
}

export default function TargetScreen(): JSX.Element {
  const key = () => param('key');
  const mine = (event: { key?: string }) => event.key !== undefined && targetOf(event.key) === key();
  const target = fetched(key, (wanted, signal) => api.get<TargetObject>(path`api/targets/${wanted}`, { signal }), {
    events: ['poll_result', 'task_state_changed'], concerns: mine, every: 15,
  });
  return (
    <ObjectPage object={target} none={{ title: 'There is no such target', text: `${key()} is not in the fleet, or not in your part of it.`, link: href('/fleet'), linkText: 'To the fleet' }}>
      {(now) => <Page target={now()} refetch={target.refetch} mine={mine} />}
    </ObjectPage>
  );
}

/** A device that may not be seen is none; every other problem is one. */
function unseen(error: unknown): undefined {
  if ([403, 404].includes(asProblem(error).status)) return undefined;
  throw error;
}

function Page(props: { target: TargetObject; refetch: () => void; mine: (event: { key?: string }) => boolean }): JSX.Element {
  const key = createMemo(() => props.target.key);
  const device = fetched(() => props.target.device, (name, signal) => api.get<FleetObject>(path`api/devices/${name}`, { signal }).catch(unseen), { every: 60 });
  const addon = fetched(() => props.target.addon, (name, signal) => api.get<AddonPage>(path`api/addons/${name}`, { signal }));
  const changes = fetched(key, (wanted, signal) => allItems<Change>(path`api/targets/${wanted}/changes`, {}, 3000, signal), { events: ['task_state_changed'], concerns: props.mine, every: 120 });
  const alerts = fetched(key, (wanted, signal) => allItems<Alert>('api/alerts', { target: wanted }, 500, signal), {
    events: ['alert_created', 'alert_updated', 'alert_resolved'], concerns: props.mine, every: 60,
  });
  const open = () => (alerts.data() ?? []).filter((one) => one.status !== 'resolved');
  const state = (): TargetState => {
    const known = fleet.find(key());
    known?.track();
    return known?.state ?? stateOfTasks(props.target.tasks);
  };
  const [asks, setAsks] = createSignal<'' | 'silence' | 'edit'>('');
  const changed = () => {
    props.refetch();
    device.refetch();
  };
  useKeys('Target', {
    p: ['Poll now', () => void (whyNot('operate') === undefined && pollNow(key()))],
    e: ['Edit', () => editable() === undefined && setAsks('edit')],
    s: ['Silence', () => whyNot('operate') === undefined && setAsks('silence')],
  });
  const editable = () => (props.target.origin === 'api' || device.data()?.origin === 'api' ? whyNot('manage') : whyNotEdit(props.target.origin));
  return (
    <div class="page">
      <Head target={props.target} state={state()} open={open().length} editable={editable()} ask={setAsks} changed={changed} />
      <Trouble tasks={props.target.tasks} />
      <Tabs
        label="Target"
        now={query('tab')}
        onChange={(tab) => setQuery({ tab: tab === 'overview' ? '' : tab })}
        tabs={[
          {
            id: 'overview', title: 'Overview',
            content: () => (
              <div class="target-tab stack">
                <WhyLine target={props.target} />
                <State target={key()} changes={changes} now={changes.data() ? state() : 'unknown'} />
                <Show when={props.target.addon === 'tls-certificate'}><Certificate target={key()} alerts={open()} /></Show>
                <Charts target={key()} metrics={addon.data()?.metrics ?? []} changes={changes.data() ?? []} interval={props.target.tasks[0]?.interval ?? 60} />
              </div>
            ),
          },
          { id: 'why', title: 'Why now?', content: () => <WhyNow tasks={props.target.tasks} /> },
          { id: 'runs', title: 'Runs', content: () => <Runs target={key()} tasks={props.target.tasks.length} /> },
          {
            id: 'alerts', title: 'Alerts',
            get count() {
              return open().length > 0 ? open().length : undefined;
            },
            content: () => (
              <div class="target-tab stack">
                <Loaded data={alerts.data()} problem={alerts.problem()} retry={alerts.refetch} title="The alerts could not be loaded" lines={4}>
                  {(rows) => <AlertTable id="target-alerts" label={`Alerts of ${key()}`} alerts={rows()} grow={18} hide={['target']} onChanged={alerts.refetch} empty={<EmptyState icon="check" title="No alerts" text="Nothing was ever raised about this target, or it is forgotten." />} />}
                </Loaded>
              </div>
            ),
          },
          {
            id: 'settings', title: 'Settings',
            content: () => <TargetSettings target={props.target} device={device.data()} addon={addon.data()} editable={editable()} edit={() => setAsks('edit')} changed={changed} />,
          },
        ]}
      />
      <Show when={asks() === 'silence'}>
        <SilenceDialog
          about={key()}
          scopes={[
            { label: `This target (${key()})`, matchers: [matcher('target', key())] },
            { label: `The whole device (${props.target.device})`, matchers: [matcher('device', props.target.device)] },
          ]}
          onClose={() => setAsks('')}
        />
      </Show>
      <Show when={asks() === 'edit'}>
        <TargetEditor target={props.target} device={device.data()} parameters={addon.data()?.parameters} onClose={() => setAsks('')} onSaved={changed} />
      </Show>
    </div>
  );
}

function Head(props: {
  target: TargetObject;
  state: TargetState;
  open: number;
  editable: string | undefined;
  ask: (what: 'silence' | 'edit') => void;
  changed: () => void;
}): JSX.Element {
  const key = () => props.target.key;
  const [busy, setBusy] = createSignal('');
  const first = (): TaskRow | undefined => props.target.tasks[0];
  const off = () => props.target.tasks.length > 0 && props.target.tasks.every((task) => !task.enabled);
  const run = (what: string, act: () => Promise<boolean>) => {
    setBusy(what);
    void act().then((ok) => ok && props.changed()).finally(() => setBusy(''));
  };
  const more = (): MenuEntry[] => [
    { label: 'Silence…', icon: 'silence', hint: 's', disabledReason: whyNot('operate'), run: () => props.ask('silence') },
    ...failureEntries(props.target.tasks, key(), (act) => run('', act)),
    { kind: 'line' },
    { label: 'Delete…', icon: 'trash', danger: true, disabledReason: props.editable ?? (props.target.origin === 'api' ? undefined : 'It is part of its device: take the addon off the device instead.'), run: () => run('', async () => ((await deleteTarget(key())) ? (navigate(href('/devices/:name', { name: props.target.device })), true) : false)) },
  ];
  return (
    <header class="object-head">
      <div class="page-head">
        <StateMark state={props.state} size={16} />
        <h1 class="object-name">{key()}</h1>
        <span class="spring" />
        <Button kind="primary" icon="play" busy={busy() === 'poll'} disabledReason={whyNot('operate') ?? (off() ? 'It is paused: enable it first.' : undefined)} onClick={() => run('poll', () => pollNow(key()))}>Poll now</Button>
        <Show when={off()} fallback={<Button icon="pause" busy={busy() === 'pause'} disabledReason={whyNot('operate')} onClick={() => run('pause', () => pauseTarget(key()))}>Pause</Button>}>
          <Button icon="play" busy={busy() === 'pause'} disabledReason={whyNot('operate')} onClick={() => run('pause', () => enableTarget(key()))}>Enable</Button>
        </Show>
        <Button icon="edit" disabledReason={props.editable} onClick={() => props.ask('edit')}>Edit</Button>
        <Menu label="More" icon="more" bare align="end" entries={more} />
      </div>
      <div class="object-facts target-facts">
        <Fact name="Device"><a href={href('/devices/:name', { name: props.target.device })}>{props.target.device}</a></Fact>
        <Show when={props.target.connection}><Fact name="Address"><span class="mono">{props.target.connection}</span></Fact></Show>
        <Fact name="Last good answer"><AgeRing at={parseTime(first()?.last_success)} expected={first()?.interval ?? null} bound={first()?.bound ?? null} /></Fact>
        <Show when={!off()}><Fact name="Next poll"><Countdown at={first()?.next_due} due="now" /></Fact></Show>
        <Fact name="Interval">{duration(first()?.interval)}</Fact>
        <Fact name="Tier">{(first()?.tier ?? 'normal') as Tier}</Fact>
        <Show when={props.open > 0}><Fact name="Alerts"><a href={href('/targets/:key', { key: key() }, { tab: 'alerts' })}>{props.open} open</a></Fact></Show>
        <Fact name="Origin"><Badge tone={props.target.origin === 'api' ? 'info' : 'mute'}>{props.target.origin}</Badge></Fact>
        <Show when={props.target.groups.length > 0}>
          <Fact name="Groups"><For each={props.target.groups}>{(group) => <a class="chip" href={href('/fleet', {}, { filter: termOf('group', ':', group) })}>{group}</a>}</For></Fact>
        </Show>
        <Show when={Object.keys(props.target.labels).length > 0}>
          <Fact name="Labels"><For each={Object.entries(props.target.labels)}>{([name, value]) => <a class="chip" href={href('/fleet', {}, { filter: termOf(`label.${name}`, '=', value) })}>{name}={value}</a>}</For></Fact>
        </Show>
      </div>
    </header>
  );
}

/** What is wrong, in the words of the last failure. */
function Trouble(props: { tasks: readonly TaskRow[] }): JSX.Element {
  const bad = () => props.tasks.filter((task) => task.failures > 0 || task.problem);
  return (
    <For each={bad()}>
      {(task) => (
        <div class="note-box tone-bad" role="status">
          <StateMark state="down" short />
          <div class="what">
            <strong>{task.failures > 0 ? `Failed ${task.failures === 1 ? 'once' : `${task.failures} times in a row`}` : 'Something is wrong'}</strong>
            <Show when={task.first_failure}> since <Time at={task.first_failure} relative /></Show>
            <Show when={task.breaker !== 'closed'}> · breaker {task.breaker.replace('_', ' ')}</Show>
            <Show when={task.dead_letter !== 'none'}> · dead letter: {deadLetterWords(task.dead_letter)}</Show>
            <Show when={task.key.includes('#')}> · part {task.key.split('#')[1]}</Show>
            <div class="target-error">{task.error ?? task.problem}</div>
            <Show when={task.code}><code class="muted small">{task.code}</code></Show>
          </div>
        </div>
      )}
    </For>
  );
}

function rhythm(story: Explanation): string {
  const every = duration(story.interval.in_force);
  if (story.task.failures > 0) return `The failure ladder asks again after ${every}.`;
  const limit = story.interval.limited_by;
  return `Polled every ${every}${limit === 'nothing' || limit === 'a fixed interval' ? '' : `, limited by ${limit}`}.`;
}

function WhyLine(props: { target: TargetObject }): JSX.Element {
  const story = useExplanation(() => props.target.tasks[0]?.key);
  return (
    <Show when={story.data()}>
      {(now) => (
        <p class="target-why">
          <span>{headline(now(), tick())}</span>{' '}
          <span class="muted">{rhythm(now())}</span>{' '}
          <a href={href('/targets/:key', { key: props.target.key }, { tab: 'why' })}>Why?</a>
        </p>
      )}
    </Show>
  );
}

function State(props: { target: string; changes: Fetched<Change[]>; now: TargetState }): JSX.Element {
  const span = () => kSpans.find((one) => one.id === query('span')) ?? kSpans[0];
  const [all, setAll] = createSignal(false);
  const known = () => props.changes.data() ?? [];
  const shown = () => (all() ? known().slice(0, 200) : known().slice(0, 5));
  return (
    <section class="panel" aria-label="State over time">
      <div class="panel-head">
        <h2>State</h2><span class="spring" />
        <SpanChoice label="Time shown" spans={kSpans} value={span().id} onChange={(id) => setQuery({ span: id === '24h' ? '' : id })} />
      </div>
      <div class="panel-body stack">
        <StateStrip now={props.now} changes={known()} seconds={span().seconds} label={`${props.target}, last ${span().label}`} />
        <Loaded data={props.changes.data()} problem={props.changes.problem()} retry={props.changes.refetch} title="The transitions could not be loaded" lines={2}>
          {() => (
            <Show when={known().length > 0} fallback={<p class="muted small">No transitions are known yet.</p>}>
              <ol class="target-changes">
                <For each={shown()}>
                  {(change) => (
                    <li>
                      <span class="muted small target-change-time"><Time at={change.at} /></span>
                      <StateMark state={change.to ?? 'unknown'} short />
                      <span class="cut">{change.message}{change.failures > 0 ? ` after ${change.failures} failures` : ''}</span>
                    </li>
                  )}
                </For>
              </ol>
              <Show when={known().length > 5}>
                <div><Button dense kind="quiet" icon={all() ? 'up' : 'down'} onClick={() => setAll(!all())}>{all() ? 'Fewer' : `All ${known().length >= 3000 ? 'of the newest 3,000' : known().length} transitions`}</Button></div>
              </Show>
            </Show>
          )}
        </Loaded>
      </div>
    </section>
  );
}
