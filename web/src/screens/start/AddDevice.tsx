// Adds a device (or another addon to one that exists), then watches its first poll: an address that
// does not answer is told here, not found out later.
import { createMemo, createSignal, For, Match, onCleanup, Show, Switch } from 'solid-js';
import type { JSX } from 'solid-js';
import { allItems, api, asProblem, path } from '../../api/client';
import type { Problem } from '../../api/client';
import { live } from '../../api/live';
import type { Addon, AddonParameter, PollResultData } from '../../api/model';
import { href } from '../../app/router';
import { Button, Dialog, FormDialog, FormErrors, SelectField, StateMark, TextField, useForm } from '../../design';
import { duration, measure } from '../../logic/format';
import { AddCredential, credentialNames } from '../../parts/CredentialDialog';
import { fetched } from '../../parts/fetched';
import { fleet } from '../../state/fleet';
import { targetOf } from '../../state/fleet_book';
import './start.css';

interface AddonDetail extends Addon {
  parameters: AddonParameter[];
}

// What comes in by itself is not asked for, so there is nothing to test.
const kInbound = new Set(['push', 'trap', 'webhook']);

export function AddDevice(props: { onClose: () => void }): JSX.Element {
  const [made, setMade] = createSignal<string | null>(null);
  return (
    <Show when={made()} keyed fallback={<Ask onClose={props.onClose} onMade={setMade} />}>
      {(key) => <FirstPoll key={key} onClose={props.onClose} onAnother={() => setMade(null)} />}
    </Show>
  );
}

const kCredentialKind: Record<string, string> = { snmp: 'community', http: 'password', ssh: 'password' };

function Ask(props: { onClose: () => void; onMade: (key: string) => void }): JSX.Element {
  const addons = fetched(() => 'addons', (_, signal) => allItems<Addon>('api/addons', {}, 5000, signal));
  const credentials = credentialNames();
  const [addon, setAddon] = createSignal('icmp-ping');
  const [device, setDevice] = createSignal('');
  const [address, setAddress] = createSignal('');
  const [credential, setCredential] = createSignal('');
  const [port, setPort] = createSignal('');
  const [values, setValues] = createSignal<Record<string, string>>({});
  const form = useForm();
  const problem = form.problem;
  const detail = fetched(addon, (name, signal) => api.get<AddonDetail>(path`api/addons/${name}`, { signal }));

  const exists = createMemo(() => fleet.targets().some((target) => target.device === device().trim()));
  const parameters = () => detail.data()?.parameters ?? [];
  const needsCredential = () => ['snmp', 'http', 'ssh'].includes(detail.data()?.protocol ?? '');
  const choices = createMemo(() =>
    (addons.data() ?? [])
      .filter((one) => one.enabled)
      .sort((a, b) => Number(b.name === 'icmp-ping') - Number(a.name === 'icmp-ping') || a.title.localeCompare(b.title))
      .map((one) => ({ value: one.name, label: `${one.title} (${one.name})` })),
  );
  const fields = () => ['/addon', '/device', '/address', '/device_spec/address', '/spec/credentials', '/spec/port', ...parameters().map((one) => `/spec/params/${one.name}`)];

  const save = () => {
    const given = Object.fromEntries(Object.entries(values()).filter(([, value]) => value !== ''));
    const spec = {
      ...(credential() === '' ? {} : { credentials: credential() }),
      ...(port() === '' ? {} : { port: Number(port()) }),
      ...(Object.keys(given).length === 0 ? {} : { params: given }),
    };
    const name = device().trim() === '' ? address().trim() : device().trim();
    void form.run(async () => {
      const target = await api.post<{ key: string }>('api/targets', {
        addon: addon(),
        device: name,
        ...(exists() ? {} : { device_spec: { address: address().trim() } }),
        ...(Object.keys(spec).length === 0 ? {} : { spec }),
      });
      void fleet.refresh();
      props.onMade(target.key);
    });
  };
  const parameter = (one: AddonParameter) => (
    <TextField
      label={one.name.replaceAll('_', ' ')}
      value={values()[one.name] ?? ''}
      placeholder={one.default}
      onInput={(value) => setValues((before) => ({ ...before, [one.name]: value }))}
      help={one.help}
      error={problem()?.field(`/spec/params/${one.name}`)}
    />
  );
  return (
    <FormDialog title="Add a device" action="Add and test" busy={form.busy()} onClose={props.onClose} onSubmit={save}>
      <FormErrors problem={problem() ?? addons.problem() ?? detail.problem()} fields={fields()} />
      <Show when={!exists()}>
        <TextField
          label="Address"
          value={address()}
          onInput={setAddress}
          autofocus
          placeholder="192.0.2.1 or switch-1.example.org"
          error={problem()?.field('/address') ?? problem()?.field('/device_spec/address')}
        />
      </Show>
      <TextField
        label="Name of the device"
        value={device()}
        onInput={setDevice}
        placeholder={address() === '' ? 'switch-1' : address()}
        error={problem()?.field('/device')}
        help={exists() ? 'This device exists: the addon is added to it.' : 'Shown everywhere; the address unless given.'}
        list={[...new Set(fleet.targets().map((target) => target.device))].slice(0, 500)}
      />
      <SelectField label="How it is polled" value={addon()} onChange={setAddon} choices={choices()} error={problem()?.field('/addon')} help={<span class="start-about">{detail.data()?.description}</span>} />
      <For each={parameters().filter((one) => one.required)}>{parameter}</For>
      <Show when={needsCredential()}>
        <SelectField label="Credential" value={credential()} onChange={setCredential} choices={[{ value: '', label: 'none' }, ...(credentials.data() ?? [])]} error={problem()?.field('/spec/credentials')} help="How Pollux logs in there; none where nothing is asked." />
        <AddCredential kind={kCredentialKind[detail.data()?.protocol ?? '']} onAdded={(name) => (credentials.refetch(), setCredential(name))} />
      </Show>
      <Show when={parameters().some((one) => !one.required) || needsCredential()}>
        <details class="start-more">
          <summary>More settings</summary>
          <div class="stack">
            <TextField label="Port" value={port()} onInput={setPort} placeholder="as the addon says" error={problem()?.field('/spec/port')} />
            <For each={parameters().filter((one) => !one.required)}>{parameter}</For>
          </div>
        </details>
      </Show>
    </FormDialog>
  );
}

function FirstPoll(props: { key: string; onClose: () => void; onAnother: () => void }): JSX.Element {
  const [result, setResult] = createSignal<PollResultData | null>(null);
  const [asking, setAsking] = createSignal(false);
  const [refused, setRefused] = createSignal<Problem | null>(null);
  onCleanup(
    live.on<PollResultData>(['poll_result'], (events) => {
      const mine = events.filter((event) => event.key !== undefined && targetOf(event.key) === props.key);
      const last = mine[mine.length - 1];
      if (last === undefined) return;
      setResult(last.data);
      setAsking(false);
      void fleet.refresh();
    }),
  );
  const target = () => {
    fleet.order();
    const found = fleet.find(props.key);
    found?.track();
    return found;
  };
  const inbound = () => kInbound.has(props.key.split('::')[0]?.split('-').pop() ?? '');
  // The first answer may have come before this window listened: then the fleet knows it.
  const outcome = (): Pick<PollResultData, 'outcome' | 'duration' | 'code' | 'failures'> | null => {
    const told = result();
    if (told !== null) return told;
    const known = target();
    if (known === undefined) return null;
    if (known.lastSuccess !== null) return { outcome: 'ok', duration: known.duration ?? 0, failures: 0 };
    return known.failures > 0 ? { outcome: 'transient', duration: known.duration ?? 0, failures: known.failures } : null;
  };
  const good = () => outcome()?.outcome === 'ok' || outcome()?.outcome === 'degraded';
  const again = async () => {
    setAsking(true);
    setRefused(null);
    try {
      await api.post(path`api/targets/${props.key}/poll`);
    } catch (error) {
      setRefused(asProblem(error));
      setAsking(false);
    }
  };
  return (
    <Dialog
      title={`${props.key} was added`}
      onClose={props.onClose}
      foot={
        <>
          <Button onClick={() => props.onAnother()}>Add another</Button>
          <a class="button primary" href={href('/targets/:key', { key: props.key })} onClick={() => props.onClose()}>Open it</a>
        </>
      }
    >
      <Switch fallback={<p class="row" role="status"><span class="start-wait" aria-hidden="true" />Polled for the first time; its answer appears here.</p>}>
        <Match when={inbound() && outcome() === null}><p>It is ready to receive. It is shown as unknown until the first message comes.</p></Match>
        <Match when={good()}>
          <p class="row" role="status"><StateMark state={outcome()?.outcome === 'ok' ? 'up' : 'degraded'} word="It answers" /><span class="muted">in {duration(outcome()?.duration)}</span></p>
          <Show when={(target()?.headline.length ?? 0) > 0}>
            <dl class="facts"><For each={target()?.headline}>{(one) => <><dt>{one.name}</dt><dd>{measure(one.value, one.unit)}</dd></>}</For></dl>
          </Show>
        </Match>
        <Match when={outcome()}>
          {(failed) => (
            <>
              <p class="row" role="status"><StateMark state="down" word="It does not answer yet" /><code>{failed().code}</code></p>
              <p>{target()?.problem || 'The poll failed.'}</p>
              <p class="muted">It stays in the fleet and is tried again by itself{failed().failures > 0 ? `; ${failed().failures} so far` : ''}.</p>
              <FormErrors problem={refused()} />
              <div><Button icon="refresh" busy={asking()} onClick={() => void again()}>Try again now</Button></div>
            </>
          )}
        </Match>
      </Switch>
    </Dialog>
  );
}
