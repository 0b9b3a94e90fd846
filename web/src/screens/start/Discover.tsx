// Sweeps a network, shows what was found, and adds what is chosen; nothing is added before that.
import { createMemo, createSignal, For, onCleanup, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, asProblem, path } from '../../api/client';
import type { Problem } from '../../api/client';
import { href } from '../../app/router';
import { Bar, Button, Dialog, EmptyState, FormDialog, FormErrors, TextField, toast, useForm } from '../../design';
import { count, plural } from '../../logic/format';
import { fleet } from '../../state/fleet';
import './start.css';

interface Operation {
  op: string;
  addon: string;
  device: string;
  device_spec?: { address?: string };
}

interface Job {
  id: string;
  state: string;
  verdict?: string;
  failure?: string;
  progress?: { done: number; total: number };
}

const kMethods = [
  { id: 'icmp', label: 'Ping' },
  { id: 'snmp', label: 'SNMP' },
  { id: 'ssh', label: 'SSH' },
  { id: 'http', label: 'HTTP' },
  { id: 'https', label: 'HTTPS' },
] as const;
const kMost = 1000;
const kEvery = 1000;

const stopped = (job: Job) => job.state === 'failed' || job.state === 'cancelled';

export function Discover(props: { onClose: () => void }): JSX.Element {
  const [job, setJob] = createSignal<Job | null>(null);
  const [found, setFound] = createSignal<Operation[] | null>(null);
  const [problem, setProblem] = createSignal<Problem | null>(null);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let gone = false;
  onCleanup(() => {
    gone = true;
    clearTimeout(timer);
  });
  const watch = async (id: string) => {
    try {
      const now = await api.get<Job>(path`api/jobs/${id}`);
      if (gone) return;
      setJob(now);
      if (now.state === 'completed') setFound((await api.get<{ operations: Operation[] }>(path`api/jobs/${id}/proposal`)).operations);
      setProblem(null);
      if (now.state === 'completed' || stopped(now)) return;
    } catch (error) {
      // One answer that does not come is no end of the sweep: it is told, and asked again.
      if (!gone) setProblem(asProblem(error));
    }
    if (!gone) timer = setTimeout(() => void watch(id), kEvery);
  };
  const begin = (begun: Job) => {
    setJob(begun);
    void watch(begun.id);
  };
  return (
    <Show when={found()} fallback={<Show when={job()} fallback={<Ask onClose={props.onClose} onJob={begin} />}>{(now) => <Sweeping job={now()} problem={problem()} onClose={props.onClose} />}</Show>}>
      {(operations) => <Proposal operations={operations()} onClose={props.onClose} />}
    </Show>
  );
}

function Ask(props: { onClose: () => void; onJob: (job: Job) => void }): JSX.Element {
  const [network, setNetwork] = createSignal('');
  const [methods, setMethods] = createSignal<ReadonlySet<string>>(new Set(kMethods.map((one) => one.id)));
  const form = useForm();
  const go = () =>
    form.run(async () => {
      const answer = await api.post<{ job: Job }>('api/targets/discover', { network: network().trim(), methods: [...methods()] });
      props.onJob(answer.job);
    });
  const toggle = (id: string) =>
    setMethods((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  return (
    <FormDialog title="Look for devices" action="Look" busy={form.busy()} disabled={methods().size === 0} onClose={props.onClose} onSubmit={() => void go()}>
      <FormErrors problem={form.problem()} fields={['/network']} />
      <TextField label="Network" value={network()} onInput={setNetwork} autofocus placeholder="192.0.2.0/24" error={form.problem()?.field('/network')} help="At most 65,536 addresses; 50 of them are asked per second." />
      <div class="field">
        <span class="label" id="discover-methods">Ask by</span>
        <div class="row" role="group" aria-labelledby="discover-methods">
          <For each={kMethods}>{(one) => <Button dense pressed={methods().has(one.id)} onClick={() => toggle(one.id)}>{one.label}</Button>}</For>
        </div>
      </div>
    </FormDialog>
  );
}

function Sweeping(props: { job: Job; problem: Problem | null; onClose: () => void }): JSX.Element {
  const done = () => props.job.progress?.done ?? 0;
  const total = () => props.job.progress?.total ?? 0;
  return (
    <Dialog title="Looking for devices" onClose={props.onClose} foot={<Button onClick={() => props.onClose()}>{stopped(props.job) ? 'Close' : 'Close; it goes on'}</Button>}>
      <FormErrors problem={props.problem} />
      <Show
        when={!stopped(props.job)}
        fallback={<EmptyState icon="warning" title={props.job.state === 'failed' ? 'The sweep failed' : 'The sweep was cancelled'} text={props.job.failure ?? 'What it found until then is not proposed.'}><a class="button" href={href('/jobs/:id', { id: props.job.id })} onClick={() => props.onClose()}>Open the job</a></EmptyState>}
      >
        <div role="status"><Bar value={done()} max={Math.max(1, total())} tone="info" text={total() === 0 ? 'begins' : `${count(done())} of ${count(total())} addresses`} /></div>
        <p class="muted">What is found is shown here when the sweep has ended. It is a job of type discovery: closing this window does not end it.</p>
      </Show>
    </Dialog>
  );
}

function Proposal(props: { operations: readonly Operation[]; onClose: () => void }): JSX.Element {
  const devices = createMemo(() => {
    const all = new Map<string, { name: string; address: string; addons: string[] }>();
    for (const one of props.operations) {
      const device = all.get(one.device) ?? { name: one.device, address: '', addons: [] };
      device.addons.push(one.addon);
      device.address = one.device_spec?.address ?? device.address;
      all.set(one.device, device);
    }
    return [...all.values()];
  });
  const [left, setLeft] = createSignal<ReadonlySet<string>>(new Set());
  const form = useForm();
  const chosen = () => props.operations.filter((one) => !left().has(one.device));
  const number = () => devices().length - left().size;
  const toggle = (name: string) =>
    setLeft((before) => {
      const next = new Set(before);
      if (!next.delete(name)) next.add(name);
      return next;
    });
  const add = () =>
    form.run(async () => {
      const all = chosen();
      let added = 0;
      try {
        for (; added < all.length; added += kMost) await api.post('api/targets/bulk', { operations: all.slice(added, added + kMost), reason: 'discovery' });
      } catch (error) {
        if (added > 0) toast('info', `${plural(added, 'target')} added before that`);
        throw error;
      } finally {
        void fleet.refresh();
      }
      toast('ok', `${plural(number(), 'device')} added`);
      props.onClose();
    });
  return (
    <Dialog
      title="What was found"
      wide
      onClose={props.onClose}
      foot={
        <>
          <Button onClick={() => props.onClose()}>Cancel</Button>
          <Show when={devices().length > 0}><Button kind="primary" busy={form.busy()} disabled={number() === 0} onClick={() => void add()}>Add {plural(number(), 'device')}</Button></Show>
        </>
      }
    >
      <FormErrors problem={form.problem()} />
      <Show
        when={devices().length > 0}
        fallback={<EmptyState icon="search" title="Nothing new was found" text="Nobody answered there, or all of them are in the fleet already." />}
      >
        <ul class="start-found">
          <For each={devices()}>
            {(device) => (
              <li>
                <label>
                  <input type="checkbox" checked={!left().has(device.name)} onChange={() => toggle(device.name)} />
                  <strong>{device.name}</strong> <span class="mono">{device.address}</span>
                  <span class="muted">{device.addons.join(', ')}</span>
                </label>
              </li>
            )}
          </For>
        </ul>
      </Show>
    </Dialog>
  );
}
