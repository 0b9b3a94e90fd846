// Planned work: alerts go on and are seen, messages wait until the silence ends.
import { createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api } from '../api/client';
import { FormDialog, FormErrors, SelectField, TextAreaField, TextField, Time, toast, useForm } from '../design';
import { bothTimes, serverNow, tick } from '../logic/clock';
import { me } from '../state/session';
import { kSilenceLengths, kUsualLength, silenceBody, silenceName } from './silence';
import './parts.css';

const kLengths = [...kSilenceLengths, { value: '259200', label: '3 days' }].sort((a, b) => Number(a.value) - Number(b.value));

export interface SilenceScope {
  label: string;
  matchers: readonly string[];
}

/** <SilenceDialog about="core-1" scopes={[{ label: 'The whole device', matchers: [matcher('device', 'core-1')] }]} … /> */
export function SilenceDialog(props: {
  about: string;
  scopes: readonly SilenceScope[];
  /** Many that were chosen by hand: what is silenced is known, and nobody reads their names as a pattern. */
  chosen?: boolean;
  onClose: () => void;
  onDone?: () => void;
}): JSX.Element {
  const [scope, setScope] = createSignal('0');
  const [lines, setLines] = createSignal(props.scopes[0]?.matchers.join('\n') ?? '');
  const [length, setLength] = createSignal<string>(kUsualLength);
  const [owner, setOwner] = createSignal(me()?.name ?? '');
  const [reason, setReason] = createSignal('');
  const [tried, setTried] = createSignal(false);
  const form = useForm();
  const problem = form.problem;
  const matchers = () => lines().split('\n').map((one) => one.trim()).filter((one) => one !== '');
  const end = () => tick() + Number(length()) * 1000;
  const choose = (value: string) => {
    setScope(value);
    setLines(props.scopes[Number(value)]?.matchers.join('\n') ?? '');
  };
  const go = () => {
    setTried(true);
    if (reason().trim() === '' || owner().trim() === '' || matchers().length === 0) return;
    void form.run(async () => {
      const now = serverNow();
      const wish = { matchers: matchers(), length: Number(length()), owner: owner().trim(), reason: reason().trim() };
      await api.post('api/silences', silenceBody(wish, silenceName(props.about, now), now));
      toast('ok', props.chosen === true ? `${props.about} silenced` : `Messages about ${props.about} wait until ${bothTimes(end())}`, 'Alerts go on and are seen. What is still wrong then is told then.');
      props.onDone?.();
      props.onClose();
    });
  };
  return (
    <FormDialog title={`Silence ${props.about}`} action={props.chosen === true ? 'Silence' : <>Silence until <Time at={end()} /></>} icon="silence" busy={form.busy()} onClose={props.onClose} onSubmit={go}>
      <p class="muted">Alerts go on and are seen here; messages to people wait. What is still wrong when the silence ends is told then.</p>
      <FormErrors problem={problem()} fields={['/reason', '/owner', '/match']} />
      <Show when={props.scopes.length > 1}>
        <SelectField label="What" value={scope()} onChange={choose} choices={props.scopes.map((one, place) => ({ value: String(place), label: one.label }))} />
      </Show>
      <Show when={props.chosen !== true}>
        <TextAreaField
          label="Matchers, one per line; all must hold"
          mono
          rows={Math.max(2, matchers().length)}
          value={lines()}
          onInput={setLines}
          error={problem()?.field('/match') ?? (tried() && matchers().length === 0 ? 'At least one is needed: a silence of everything is refused.' : undefined)}
        />
      </Show>
      <div class="field-pair">
        <SelectField label="For" value={length()} onChange={setLength} choices={kLengths} />
        <TextField label="Owner" value={owner()} onInput={setOwner} error={problem()?.field('/owner') ?? (tried() && owner().trim() === '' ? 'Who is responsible?' : undefined)} />
      </div>
      <TextField
        label="Reason"
        value={reason()}
        onInput={setReason}
        placeholder="new firmware"
        autofocus
        error={problem()?.field('/reason') ?? (tried() && reason().trim() === '' ? 'A reason is needed.' : undefined)}
      />
      <Show when={problem()?.errors.length}>
        <ul class="small muted"><For each={problem()?.errors ?? []}>{(one) => <li>{one.pointer} {one.detail}</li>}</For></ul>
      </Show>
    </FormDialog>
  );
}
