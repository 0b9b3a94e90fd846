// Who is told of what: routes in their order, and what they would do with an alert.
import { createMemo, createSignal, createUniqueId, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, path } from '../../api/client';
import { kSeverities } from '../../api/model';
import { Badge, Button, CheckField, EmptyState, FormDialog, FormErrors, Loaded, NumberField, SelectField, StateMark, TextAreaField, TextField, useForm } from '../../design';
import { keepRows } from '../../logic/keep_rows';
import { whyNot } from '../../state/session';
import type { Polled } from '../../state/polled';
import { askAndDo, saveForm, store } from './acts';
import { labelsOf, matchers, routeForm, routeSpec } from './object_spec';
import { OwnedActs, Owner } from './Owner';
import type { FleetObject, RouteSpec } from './shapes';

export type Route = FleetObject<RouteSpec>;

export function Routes(props: { routes: Polled<Route[]>; receivers: readonly string[] }): JSX.Element {
  const [editing, setEditing] = createSignal<Route | 'new' | null>(null);
  const sorted = createMemo<readonly Route[]>((before) => {
    const rows = [...(props.routes.data() ?? [])].sort((a, b) => (a.spec.order ?? 0) - (b.spec.order ?? 0) || a.name.localeCompare(b.name));
    return keepRows(before, rows, (row) => row.name);
  }, []);
  const remove = (one: Route) =>
    askAndDo(
      { title: `Remove the route ${one.name}?`, text: 'Incidents it took are taken by the routes after it, or by nobody.', action: 'Remove', danger: true },
      () => api.delete(path`api/routes/${one.name}`),
      { done: () => `The route ${one.name} is removed.`, failed: `${one.name} could not be removed` },
      props.routes.refresh,
    );
  return (
    <section class="stack" aria-label="Routes">
      <div class="row"><h2>Routes</h2><span class="muted small">asked in this order; the first that applies decides, unless it says to go on</span><span class="spring" /><Button icon="plus" disabledReason={whyNot('manage')} onClick={() => setEditing('new')}>Add a route</Button></div>
      <Loaded data={props.routes.data()} problem={props.routes.problem()} retry={props.routes.refresh} title="The routes could not be loaded" lines={3}>
        {() => (
          <Show when={sorted().length > 0} fallback={<div class="panel"><EmptyState icon="tree" title="No routes yet" text="Without a route nobody is told. One that names a receiver and nothing else tells it of everything." /></div>}>
            <ol class="panel settings-routes">
              <For each={sorted()}>
                {(one, place) => (
                  <li class="row">
                    <span class="muted number">{place() + 1}.</span>
                    <strong>{one.name}</strong><Owner object={one} />
                    <span>{when(one.spec)}</span>
                    <span class="muted">tells</span>
                    <span class="settings-badges"><For each={one.spec.receivers ?? []}>{(name) => <Badge tone={props.receivers.includes(name) || name.startsWith('label:') ? 'info' : 'warn'}>{name}</Badge>}</For></span>
                    <span class="muted small">{extras(one.spec)}</span>
                    <span class="spring" />
                    <OwnedActs kind="routes" object={one} refresh={props.routes.refresh} onEdit={() => setEditing(one)} onRemove={() => void remove(one)} />
                  </li>
                )}
              </For>
            </ol>
          </Show>
        )}
      </Loaded>
      <WhoIsTold />
      <Show when={editing()} keyed>{(one) => <RouteDialog route={one === 'new' ? null : one} receivers={props.receivers} onClose={() => setEditing(null)} onDone={() => (setEditing(null), void props.routes.refresh())} />}</Show>
    </section>
  );
}

function when(spec: RouteSpec): JSX.Element {
  const found = matchers(spec.match);
  return (
    <>
      <Show when={found.length > 0 || spec.at_least} fallback={<span class="muted">everything</span>}>
        <For each={found}>{(one) => <code class="settings-matcher">{one}</code>}</For>
        <Show when={spec.at_least}>{(least) => <span class="small">from <StateMark state={least()} /> on</span>}</Show>
      </Show>
    </>
  );
}

function extras(spec: RouteSpec): string {
  return [
    spec.go_on ? 'goes on' : '',
    (spec.only_during ?? []).length > 0 ? 'only at some hours' : '',
    (spec.quiet ?? []).length > 0 ? 'has quiet hours' : '',
    (spec.escalation ?? []).length > 0 ? `escalates to ${(spec.escalation ?? []).flatMap((step) => step.receivers).join(', ')}` : '',
    spec.repeat === undefined || spec.repeat === '0s' ? 'no reminders' : `reminds every ${spec.repeat}`,
  ].filter((one) => one !== '').join('; ');
}

const kFields = ['name', 'order', 'match', 'at_least', 'receivers', 'group_by', 'group_wait', 'group_interval', 'repeat'];

function RouteDialog(props: { route: Route | null; receivers: readonly string[]; onClose: () => void; onDone: () => void }): JSX.Element {
  const [name, setName] = createSignal(props.route?.name ?? '');
  const [data, setData] = createSignal(routeForm(props.route?.spec ?? {}));
  const form = useForm();
  const set = (change: Partial<ReturnType<typeof routeForm>>) => setData((before) => ({ ...before, ...change }));
  const all = () => [...new Set([...props.receivers, ...data().receivers])];
  const save = () =>
    void saveForm(form, async () => store('routes', props.route, name().trim(), routeSpec(data())), () => [`The route ${name().trim()} is stored.`], props.onDone);
  const error = (field: string) => form.problem()?.inside(field);
  const id = createUniqueId();
  return (
    <FormDialog
      title={props.route === null ? 'Add a route' : `Edit the route ${props.route.name}`}
      wide
      action={props.route === null ? 'Add' : 'Save'}
      busy={form.busy()}
      onClose={props.onClose}
      onSubmit={save}
    >
      <FormErrors problem={form.problem()} fields={form.problem()?.pointersInside(kFields) ?? []} />
      <div class="settings-pair">
        <Show when={props.route === null}><TextField label="Name" autofocus value={name()} onInput={setName} error={error('name')} /></Show>
        <NumberField label="Order (lower is asked first)" value={data().order} onInput={(order) => set({ order })} error={error('order')} />
        <SelectField label="Severity, at least" value={data().atLeast} onChange={(atLeast) => set({ atLeast })} choices={[{ value: '', label: 'any' }, ...kSeverities]} error={error('at_least')} />
      </div>
      <TextAreaField label="Matchers (one per line; all must hold)" mono rows={3} placeholder={'site="berlin"\ndevice=~"core-.*"'} value={data().match} onInput={(match) => set({ match })} error={error('match')} help="Labels of the device, and alertname, severity, category, addon, device, target, group …; =, !=, =~ and !~." />
      <fieldset class="settings-picks">
        <legend>Receivers</legend>
        <For each={all()} fallback={<p class="muted small">There is no receiver yet: add one first.</p>}>
          {(one) => <CheckField label={one} value={data().receivers.includes(one)} onChange={(on) => set({ receivers: on ? [...data().receivers, one] : data().receivers.filter((other) => other !== one) })} />}
        </For>
        <Show when={error('receivers')}>{(text) => <p class="settings-wrong small" id={id}>{text()}</p>}</Show>
      </fieldset>
      <div class="settings-pair">
        <TextField label="Wait for others" value={data().groupWait} onInput={(groupWait) => set({ groupWait })} error={error('group_wait')} />
        <TextField label="Then at most every" value={data().groupInterval} onInput={(groupInterval) => set({ groupInterval })} error={error('group_interval')} />
        <TextField label="Remind every (0s: never)" value={data().repeat} onInput={(repeat) => set({ repeat })} error={error('repeat')} />
        <TextField label="Share messages by labels" placeholder="site, group" value={data().groupBy} onInput={(groupBy) => set({ groupBy })} error={error('group_by')} />
      </div>
      <CheckField label="Go on with the routes after this one" value={data().goOn} onChange={(goOn) => set({ goOn })} />
      <TextAreaField label="Hours and escalation (JSON, optional)" mono rows={3} value={data().rest} onInput={(rest) => set({ rest })} placeholder={'{"quiet": [{"cron": "0 22 * * *", "duration": "9h", "zone": "Europe/Berlin"}], "escalation": [{"after": "15m", "receivers": ["boss"]}]}'} help="only_during, quiet and escalation, as in the fleet files." />
    </FormDialog>
  );
}

function WhoIsTold(): JSX.Element {
  const [labels, setLabels] = createSignal('');
  const [severity, setSeverity] = createSignal('critical');
  const [answer, setAnswer] = createSignal<string | null>(null);
  const form = useForm();
  const wrong = () => labelsOf(labels()).wrong;
  const ask = () => {
    if (wrong().length > 0) return;
    void form.run(async () => {
      setAnswer((await api.post<{ explanation: string }>('api/route-test', { labels: labelsOf(labels()).labels, severity: severity() })).explanation);
    });
  };
  return (
    <form class="panel" aria-label="Who would be told" onSubmit={(event) => (event.preventDefault(), ask())}>
      <div class="panel-head"><h3>Who would be told?</h3><span class="muted small">of an alert like this, now; nothing is sent</span></div>
      <div class="panel-body stack">
        <FormErrors problem={form.problem()} />
        <div class="settings-ask">
          <TextField label="Labels" mono placeholder="site=berlin, device=core-1" value={labels()} onInput={setLabels} error={wrong().length > 0 ? `Write it as name=value: ${wrong().join(', ')}` : undefined} />
          <SelectField label="Severity" value={severity()} onChange={setSeverity} choices={kSeverities} />
          <Button type="submit" icon="search" busy={form.busy()}>Ask</Button>
        </div>
        <Show when={answer() !== null}><pre class="settings-code" tabindex={0} role="status">{answer()?.trim()}</pre></Show>
      </div>
    </form>
  );
}
