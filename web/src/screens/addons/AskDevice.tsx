// Asks a device now as the manifest in the editor says, before anything is stored: a job of the type `trial`, with the
// device's credentials and within its limits.
import { createMemo, createSignal, onCleanup, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, asProblem, isAbort, path, Problem } from '../../api/client';
import { Button, FormErrors, TextField } from '../../design';
import { fleet } from '../../state/fleet';
import { whyNot } from '../../state/session';
import { freshTrial } from './model';
import type { FreshTrial, TrialJob, TrialRun } from './model';

const kLookEvery = 700;
const kPatience = 120_000;

const pause = (wait: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, wait);
    signal.addEventListener('abort', () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });

export function AskDevice(props: { manifest: string; parameters: Record<string, string>; onAnswer: (answer: FreshTrial | null) => void }): JSX.Element {
  const [device, setDevice] = createSignal('');
  const [port, setPort] = createSignal('');
  const [waiting, setWaiting] = createSignal<string | null>(null);
  const [problem, setProblem] = createSignal<Problem | null>(null);
  const devices = createMemo(() => [...new Set(fleet.targets().map((target) => target.device))].slice(0, 1000));
  let running: AbortController | null = null;
  onCleanup(() => running?.abort());

  const follow = async (id: string, signal: AbortSignal): Promise<FreshTrial> => {
    for (const end = Date.now() + kPatience; Date.now() < end; await pause(kLookEvery, signal)) {
      const job = await api.get<TrialJob>(path`api/jobs/${id}`, { signal });
      if (job.state !== 'completed' && job.state !== 'failed' && job.state !== 'cancelled') {
        setWaiting(job.verdict ?? '');
        continue;
      }
      const { items } = await api.get<{ items: TrialRun[] }>(path`api/jobs/${id}/runs`, { signal });
      return freshTrial(job, items);
    }
    throw new Problem({ status: 503, code: 'trial.waits', detail: 'It still waits for its turn: its answer will be among the jobs.' });
  };
  const ask = async () => {
    if (waiting() !== null || device().trim() === '') return;
    running = new AbortController();
    setProblem(null);
    setWaiting('');
    props.onAnswer(null);
    try {
      const job = {
        name: 'trial', type: 'trial', device: device().trim(),
        arguments: { manifest: props.manifest, ...(port().trim() === '' ? {} : { port: Number(port()) }), ...(Object.keys(props.parameters).length > 0 ? { parameters: props.parameters } : {}) },
      };
      const { ids } = await api.post<{ ids: string[] }>('api/jobs', { jobs: [job] }, { signal: running.signal });
      props.onAnswer(await follow(ids[0] ?? '', running.signal));
    } catch (error) {
      if (!isAbort(error)) setProblem(asProblem(error));
    } finally {
      setWaiting(null);
    }
  };
  return (
    <section class="panel panel-body stack" aria-label="Ask a device now">
      <p class="muted small">Or ask a device now: with its credentials and within its limits, once. Nothing is put in force, no value is stored; it is in the audit trail.</p>
      <TextField label="Device" value={device()} onInput={setDevice} list={devices()} placeholder={devices()[0]} />
      <TextField label="Port (optional)" value={port()} onInput={setPort} help="That of the device, or of the protocol, unless given." />
      <div class="row">
        <Button icon="play" busy={waiting() !== null} disabled={device().trim() === ''} disabledReason={whyNot('manage') ?? whyNot('operate')} onClick={() => void ask()}>Ask it now</Button>
        <Show when={waiting()}>{(words) => <span class="muted small" role="status">{words()}</span>}</Show>
      </div>
      <FormErrors problem={problem()} />
    </section>
  );
}
