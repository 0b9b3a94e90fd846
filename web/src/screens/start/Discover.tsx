// Sweeps a network, shows what was found, and adds what is chosen; nothing is added before that.
import { createSignal, onCleanup, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, asProblem, path } from '../../api/client';
import type { Problem } from '../../api/client';
import { href } from '../../app/router';
import { Bar, Button, Dialog, EmptyState, FormDialog, FormErrors } from '../../design';
import { count } from '../../logic/format';
import Proposal from '../../parts/Proposal';
import { SweepFields, sweepForm } from '../../parts/SweepFields';
import { whyNot } from '../../state/session';
import './start.css';

interface Job {
  id: string;
  state: string;
  verdict?: string;
  failure?: string;
  progress?: { done: number; total: number };
}

const kEvery = 1000;

const stopped = (job: Job) => job.state === 'failed' || job.state === 'cancelled';

export function Discover(props: { onClose: () => void }): JSX.Element {
  const [job, setJob] = createSignal<Job | null>(null);
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
      setProblem(null);
      if (now.state === 'completed' || stopped(now)) return;
    } catch (error) {
      // One answer that does not come is no end of the sweep: it is told, and asked again.
      if (!gone) setProblem(asProblem(error));
    }
    if (!gone) timer = setTimeout(() => void watch(id), kEvery);
  };
  const begin = (id: string) => {
    setJob({ id, state: 'pending' });
    void watch(id);
  };
  return (
    <Show when={job()} fallback={<Ask onClose={props.onClose} onJob={begin} />}>
      {(now) => (
        <Show when={now().state === 'completed'} fallback={<Sweeping job={now()} problem={problem()} onClose={props.onClose} />}>
          <Dialog title="What was found" wide onClose={props.onClose} foot={<Button onClick={() => props.onClose()}>Close</Button>}>
            <Proposal job={now()} onAdded={props.onClose} />
          </Dialog>
        </Show>
      )}
    </Show>
  );
}

function Ask(props: { onClose: () => void; onJob: (id: string) => void }): JSX.Element {
  const sweep = sweepForm((id) => props.onJob(id));
  return (
    <FormDialog title="Look for devices" action="Look" icon="search" busy={sweep.busy()} disabled={!sweep.ready()} disabledReason={whyNot('operate')} onClose={props.onClose} onSubmit={sweep.start}>
      <SweepFields form={sweep} />
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
