// Takes dead letters off the list: what becomes of the targets, why, and how far it has come. The server
// allows ten such acts a minute, so many take a while.
import { createSignal, For, onCleanup, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, path } from '../../api/client';
import { Button, Dialog, SelectField, TextField, toast } from '../../design';
import { serverNow, tick } from '../../logic/clock';
import { count, duration, plural } from '../../logic/format';
import { runPaced } from './paced';
import type { Progress } from './paced';

const kFates = [
  { value: 'disable', label: 'Disable the target: it is not polled until somebody enables it' },
  { value: 'keep', label: 'Keep polling it, as if nothing had been' },
  { value: 'remove', label: 'Remove the target from the fleet' },
];

export function RemoveDialog(props: { keys: readonly string[]; onClose: () => void; onDone: () => void }): JSX.Element {
  const [fate, setFate] = createSignal('disable');
  const [reason, setReason] = createSignal('');
  const [progress, setProgress] = createSignal<Progress | null>(null);
  const [running, setRunning] = createSignal(false);
  let stopped = false;
  let wake: (() => void) | null = null;
  onCleanup(() => stop());
  const stop = () => {
    stopped = true;
    wake?.();
  };
  const pause = (milliseconds: number) =>
    new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(!stopped), milliseconds);
      wake = () => (clearTimeout(timer), resolve(false));
    });
  const go = async () => {
    if (running()) return;
    stopped = false;
    setRunning(true);
    const left = props.keys;
    const result = await runPaced(
      left,
      (key) => api.delete(path`api/monitoring/dlq/${key}`, { query: { target: fate() }, body: { reason: reason() } }),
      { pause, stopped: () => stopped, tell: setProgress, now: serverNow },
    );
    setRunning(false);
    setProgress(result);
    props.onDone();
    if (result.failed.length === 0 && result.done === result.all) {
      toast('ok', `${plural(result.done, 'dead letter')} removed${fate() === 'keep' ? '; polled again' : fate() === 'disable' ? '; disabled' : ' with their targets'}.`);
      props.onClose();
    }
  };
  const title = () => (props.keys.length === 1 ? `Remove the dead letter ${props.keys[0]}?` : `Remove ${plural(props.keys.length, 'dead letter')}?`);
  const finished = () => progress() !== null && !running();
  return (
    <Dialog
      title={title()}
      onClose={() => (stop(), props.onClose())}
      onSubmit={() => void go()}
      foot={
        <Show
          when={!finished()}
          fallback={<Button kind="primary" onClick={() => props.onClose()}>Close</Button>}
        >
          <Button onClick={() => (running() ? stop() : props.onClose())}>{running() ? 'Stop' : 'Cancel'}</Button>
          <Button kind="danger" type="submit" busy={running()}>{fate() === 'remove' ? 'Remove targets' : 'Remove'}</Button>
        </Show>
      }
    >
      <Show when={progress() === null}>
        <SelectField label="What becomes of the target" value={fate()} onChange={setFate} choices={kFates} />
        <TextField label="Reason (optional)" help="Kept in the audit trail." value={reason()} onInput={setReason} />
        <Show when={props.keys.length > 10}><p class="muted small">The server allows ten of these acts a minute: this takes about {plural(Math.ceil(props.keys.length / 10) - 1, 'minute')}. You can stop it at any time.</p></Show>
      </Show>
      <Show when={progress()}>
        {(now) => (
          <div class="stack" role="status">
            <p>{count(now().done)} of {count(now().all)} removed<Show when={now().failed.length > 0}>, {count(now().failed.length)} failed</Show>.</p>
            <Show when={now().waitsUntil}>{(until) => <p class="muted">The server allows ten of these acts a minute; it goes on in {duration(Math.max(0, Math.round((until() - tick()) / 1000)))}.</p>}</Show>
            <ul class="stack"><For each={now().failed}>{(one) => <li><code>{one.key}</code> {one.problem.message}</li>}</For></ul>
          </div>
        )}
      </Show>
    </Dialog>
  );
}
