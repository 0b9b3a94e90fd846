// Who is told: people and teams with their channels, whether each channel works, and a test of all of them.
import { createMemo, createSignal, For, onCleanup, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, asProblem, path } from '../../api/client';
import { Badge, Button, CheckField, Dialog, EmptyState, FormDialog, FormErrors, Loaded, NumberField, SelectField, StateMark, TextAreaField, TextField, Time, toastProblem, useForm } from '../../design';
import { plural } from '../../logic/format';
import { keepRows } from '../../logic/keep_rows';
import { AddCredential, credentialNames } from '../../parts/CredentialDialog';
import { whyNot } from '../../state/session';
import type { Polled } from '../../state/polled';
import { askAndDo, saveForm, store } from './acts';
import { channelForm, channelSpec, kNewChannel } from './object_spec';
import type { ChannelForm, ChannelKind } from './object_spec';
import { OwnedActs, Owner } from './Owner';
import type { ChannelHealth, ChannelSpec, FleetObject, Notification, ReceiverSpec } from './shapes';

export type Receiver = FleetObject<ReceiverSpec>;

export function Receivers(props: { receivers: Polled<Receiver[]>; channels: Polled<ChannelHealth[]>; onTested: () => void }): JSX.Element {
  const [editing, setEditing] = createSignal<Receiver | 'new' | null>(null);
  const [testing, setTesting] = createSignal<{ name: string; ids: string[] } | null>(null);
  const [busy, setBusy] = createSignal('');
  const test = async (name: string) => {
    setBusy(name);
    try {
      const { notifications } = await api.post<{ notifications: string[] }>(path`api/receivers/${name}/test`, {});
      setTesting({ name, ids: notifications });
    } catch (error) {
      toastProblem(error, `The test of ${name} failed`);
    }
    setBusy('');
  };
  const remove = (one: Receiver) =>
    askAndDo(
      { title: `Remove the receiver ${one.name}?`, text: 'Routes that name it must be changed first. What was sent stays in the log.', action: 'Remove', danger: true },
      () => api.delete(path`api/receivers/${one.name}`),
      { done: () => `${one.name} is removed.`, failed: `${one.name} could not be removed` },
      props.receivers.refresh,
    );
  const rows = createMemo<readonly Receiver[]>((before) => keepRows(before, props.receivers.data() ?? [], (row) => row.name), []);
  const health = (receiver: string, channel: string) => props.channels.data()?.find((one) => one.receiver === receiver && one.channel === channel);
  return (
    <section class="stack" aria-label="Receivers">
      <div class="row"><h2>Receivers</h2><span class="muted small">people and teams, each with one or more channels</span><span class="spring" /><Button kind="primary" icon="plus" disabledReason={whyNot('manage')} onClick={() => setEditing('new')}>Add a receiver</Button></div>
      <Loaded data={props.receivers.data()} problem={props.receivers.problem()} retry={props.receivers.refresh} title="The receivers could not be loaded">
        {() => (
          <Show when={rows().length > 0} fallback={<div class="panel"><EmptyState icon="user" title="Nobody is told yet" text="A receiver is a person or a team: give it a channel, press Test, and see the message arrive." /></div>}>
            <div class="settings-cards">
              <For each={rows()}>
                {(one) => (
                  <article class="panel settings-receiver" aria-label={`Receiver ${one.name}`}>
                    <div class="panel-head">
                      <h3>{one.name}</h3><Owner object={one} /><span class="spring" />
                      <Button dense icon="play" busy={busy() === one.name} disabledReason={whyNot('operate')} onClick={() => void test(one.name)}>Test</Button>
                      <OwnedActs kind="receivers" object={one} refresh={props.receivers.refresh} onEdit={() => setEditing(one)} onRemove={() => void remove(one)} />
                    </div>
                    <ul class="settings-list panel-body">
                      <For each={one.spec.channels ?? []} fallback={<li class="muted">No channel: nothing can be sent.</li>}>
                        {(channel) => <ChannelLine channel={channel} health={health(one.name, channel.name ?? '')} />}
                      </For>
                    </ul>
                  </article>
                )}
              </For>
            </div>
          </Show>
        )}
      </Loaded>
      <Show when={editing()} keyed>{(one) => <ReceiverDialog receiver={one === 'new' ? null : one} onClose={() => setEditing(null)} onDone={() => (setEditing(null), void props.receivers.refresh())} />}</Show>
      <Show when={testing()} keyed>{(one) => <TestDialog name={one.name} ids={one.ids} onClose={() => (setTesting(null), props.onTested())} />}</Show>
    </section>
  );
}

function where(channel: ChannelSpec): string {
  return channel.url ?? channel.to?.join(', ') ?? channel.argv?.join(' ') ?? '';
}

function ChannelLine(props: { channel: ChannelSpec; health: ChannelHealth | undefined }): JSX.Element {
  return (
    <li class="settings-channel">
      <div class="row">
        <strong>{props.channel.name ?? props.channel.kind}</strong><Badge>{props.channel.kind ?? 'service'}</Badge>
        <span class="spring" />
        <Show when={props.health} fallback={<StateMark state="unknown" word="never used" />}>
          {(one) => <StateMark state={one().works ? 'ok' : 'failed'} word={one().works ? 'works' : 'does not work'} />}
        </Show>
      </div>
      <div class="mono small muted settings-where">{where(props.channel)}</div>
      <Show when={props.health}>
        {(one) => (
          <div class="small muted">
            last worked <Time at={one().worked_at} relative /><Show when={one().failed_at}>, last failed <Time at={one().failed_at} relative /></Show>
            <Show when={!one().works && one().last_error}>{(text) => <div class="settings-wrong">{text()}</div>}</Show>
          </div>
        )}
      </Show>
    </li>
  );
}

const kStates: Record<string, string> = { delivered: 'ok', failed: 'failed', waiting: 'pending', cancelled: 'cancelled', held: 'suppressed' };

export function DeliveryMark(props: { state: string }): JSX.Element {
  return <StateMark state={kStates[props.state] ?? 'unknown'} word={props.state} />;
}

/** Follows the messages of a test until each has arrived or failed. */
function TestDialog(props: { name: string; ids: readonly string[]; onClose: () => void }): JSX.Element {
  const [found, setFound] = createSignal<readonly Notification[]>([]);
  const [problem, setProblem] = createSignal('');
  let ended = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  onCleanup(() => {
    ended = true;
    clearTimeout(timer);
  });
  const look = async () => {
    let failed = false;
    try {
      setFound(await Promise.all(props.ids.map((id) => api.get<Notification>(path`api/notifications/${id}`))));
      setProblem('');
    } catch (error) {
      failed = true;
      setProblem(asProblem(error).message);
    }
    if (!ended && (failed || found().some((one) => one.state === 'waiting'))) timer = setTimeout(() => void look(), 1000);
  };
  void look();
  const waiting = () => found().length === 0 || found().some((one) => one.state === 'waiting');
  return (
    <Dialog title={`Test of ${props.name}`} wide onClose={props.onClose} foot={<Button kind="primary" onClick={props.onClose}>Close</Button>}>
      <p role="status">{waiting() ? 'The messages are on their way; what fails is tried again.' : found().every((one) => one.state === 'delivered') ? 'All channels took the message.' : 'Not all channels took the message.'}</p>
      <Show when={problem()}><p class="settings-wrong">{problem()}</p></Show>
      <ul class="settings-list">
        <For each={found()}>
          {(one) => (
            <li>
              <div class="row"><strong>{one.channel}</strong><DeliveryMark state={one.state} /><span class="muted small">{plural(one.attempts, 'attempt')}</span></div>
              <Show when={one.last_error}><div class="small settings-where">{one.last_error}</div></Show>
            </li>
          )}
        </For>
      </ul>
      <Show when={waiting() && found().some((one) => one.attempts > 1)}><p class="muted small">You can close this: the log of deliveries below shows what becomes of them.</p></Show>
    </Dialog>
  );
}

const kKinds: readonly { value: ChannelKind; label: string }[] = [
  { value: 'service', label: 'A service by its URL (ntfy, Slack, Telegram …)' },
  { value: 'email', label: 'E-mail' },
  { value: 'webhook', label: 'A webhook (HTTP)' },
  { value: 'exec', label: 'A program on the server' },
];

function ReceiverDialog(props: { receiver: Receiver | null; onClose: () => void; onDone: () => void }): JSX.Element {
  const [name, setName] = createSignal(props.receiver?.name ?? '');
  const [channels, setChannels] = createSignal<ChannelForm[]>((props.receiver?.spec.channels ?? []).map(channelForm));
  if (channels().length === 0) setChannels([{ ...kNewChannel }]);
  const names = credentialNames();
  const form = useForm();
  const set = (place: number, change: Partial<ChannelForm>) => setChannels((all) => all.map((one, at) => (at === place ? { ...one, ...change } : one)));
  const save = () =>
    void saveForm(
      form,
      async () => store('receivers', props.receiver, name().trim(), { channels: channels().map(channelSpec) }),
      () => [`The receiver ${name().trim()} is stored.`, 'Press Test to see whether its messages arrive.'],
      props.onDone,
    );
  const error = (place: number, field: string) => form.problem()?.errors.find((one) => one.pointer?.startsWith(`/channels/${place}/${field}`))?.detail;
  const known = createMemo(() => (form.problem()?.errors ?? []).flatMap((one) => (one.pointer !== undefined && /^\/channels\/\d+\/(name|url|to|from|argv|credentials|template|per_minute)/.test(one.pointer) ? [one.pointer] : [])));
  return (
    <FormDialog
      title={props.receiver === null ? 'Add a receiver' : `Edit the receiver ${props.receiver.name}`}
      wide
      action={props.receiver === null ? 'Add' : 'Save'}
      busy={form.busy()}
      onClose={props.onClose}
      onSubmit={save}
    >
      <FormErrors problem={form.problem()} fields={['/name', ...known()]} />
      <Show when={props.receiver === null}><TextField label="Name" autofocus placeholder="ops" value={name()} onInput={setName} error={form.problem()?.field('/name')} /></Show>
      <For each={channels().map((_, place) => place)}>
        {(place) => {
          const one = () => channels()[place] ?? kNewChannel;
          return (
            <fieldset class="settings-channel-form">
              <legend>Channel {place + 1}</legend>
              <SelectField label="Kind" value={one().kind} onChange={(kind) => set(place, { kind: kind as ChannelKind })} choices={kKinds} />
              <Show when={one().kind === 'service' || one().kind === 'webhook'}>
                <TextField label="URL" mono value={one().url} onInput={(url) => set(place, { url })} placeholder={one().kind === 'service' ? 'ntfys://{secret}@ntfy.example.org/ops' : 'https://example.org/alerts'} help="No secret stands in it: {secret} is the place of the one that the credential holds." error={error(place, 'url')} />
                <Show when={one().kind === 'webhook'}><TextField label="Template (optional)" value={one().template} onInput={(template) => set(place, { template })} placeholder="alertmanager" error={error(place, 'template')} /></Show>
              </Show>
              <Show when={one().kind === 'email'}>
                <TextAreaField label="To (one address per line)" rows={2} value={one().to} onInput={(to) => set(place, { to })} error={error(place, 'to')} help="Sent by the server of the settings smtp_*." />
                <TextField label="From (optional)" value={one().from} onInput={(from) => set(place, { from })} error={error(place, 'from')} />
              </Show>
              <Show when={one().kind === 'exec'}>
                <TextAreaField label="Program and arguments (one per line)" mono rows={3} value={one().argv} onInput={(argv) => set(place, { argv })} placeholder={'/usr/local/bin/page\n--urgent'} error={error(place, 'argv')} help="An absolute path, inside of what the setting exec_allow allows." />
              </Show>
              <div class="settings-pair">
                <TextField label="Name (optional)" value={one().name} onInput={(text) => set(place, { name: text })} error={error(place, 'name')} />
                <div class="stack">
                  <TextField label="Credential (optional)" value={one().credentials} onInput={(credentials) => set(place, { credentials })} error={error(place, 'credentials')} list={names.data() ?? []} />
                  <AddCredential kind="token" onAdded={(credentials) => (names.refetch(), set(place, { credentials }))} />
                </div>
                <NumberField label="Messages per minute" min={0} value={one().perMinute} onInput={(perMinute) => set(place, { perMinute })} help="More wait for one digest; 0: no limit." error={error(place, 'per_minute')} />
              </div>
              <CheckField label="Also tell when it is over" value={one().sendResolved} onChange={(sendResolved) => set(place, { sendResolved })} />
              <Show when={one().params !== '' || one().kind === 'webhook'}><TextAreaField label="Parameters of the template (JSON, optional)" mono rows={2} value={one().params} onInput={(params) => set(place, { params })} error={error(place, 'params')} /></Show>
              <Show when={channels().length > 1}><div><Button dense kind="danger" icon="trash" onClick={() => setChannels((all) => all.filter((_, at) => at !== place))}>Take this channel away</Button></div></Show>
            </fieldset>
          );
        }}
      </For>
      <div><Button dense icon="plus" onClick={() => setChannels((all) => [...all, { ...kNewChannel }])}>Add a channel</Button></div>
    </FormDialog>
  );
}
