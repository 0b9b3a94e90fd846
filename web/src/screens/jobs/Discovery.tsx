// Sweeps of networks: the form, and the sweeps so far with what they propose. Nothing is applied here.
import { For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { href, navigate } from '../../app/router';
import { api } from '../../api/client';
import { Bar, Button, Loaded, Time, toast } from '../../design';
import { count } from '../../logic/format';
import { fetched } from '../../parts/fetched';
import { SweepFields, sweepForm } from '../../parts/SweepFields';
import { whyNot } from '../../state/session';
import { JobState } from './JobList';
import { ended } from './model';
import type { Job } from './model';
import { kSoonest, watchJobs } from './watch';


export default function Discovery(): JSX.Element {
  const sweeps = fetched(() => 'sweeps', (_, signal) => api.get<{ items: Job[] }>('api/jobs', { query: { type: 'discovery', limit: 20 }, signal }), { soonest: kSoonest });
  watchJobs(sweeps.refetch, () => (sweeps.data()?.items ?? []).some((job) => !ended(job)));
  return (
    <div class="jobs-discovery">
      <SweepForm />
      <section class="panel" aria-labelledby="jobs-sweeps">
        <div class="panel-head"><h2 id="jobs-sweeps">Sweeps</h2></div>
        <Loaded data={sweeps.data()} problem={sweeps.problem()} retry={sweeps.refetch} lines={3}>
          {(found) => <ul class="jobs-sweeps"><For each={found().items} fallback={<li class="muted">No network was swept yet.</li>}>{(job) => <SweepRow job={job} />}</For></ul>}
        </Loaded>
      </section>
    </div>
  );
}

function SweepForm(): JSX.Element {
  const sweep = sweepForm((id, network) => {
    toast('ok', `The sweep of ${network} has begun`);
    navigate(href('/jobs/:id', { id }));
  });
  return (
    <section class="panel" aria-labelledby="jobs-sweep">
      <div class="panel-head"><h2 id="jobs-sweep">Sweep a network</h2><span class="muted small">finds devices and proposes them; nothing is applied before you accept it</span></div>
      <form class="panel-body jobs-form" onSubmit={(event) => (event.preventDefault(), sweep.start())}>
        <SweepFields form={sweep} />
        <div class="row">
          <Button kind="primary" type="submit" icon="search" busy={sweep.busy()} disabled={!sweep.ready()} disabledReason={whyNot('operate')}>Start the sweep</Button>
        </div>
      </form>
    </section>
  );
}

function SweepRow(props: { job: Job }): JSX.Element {
  const job = () => props.job;
  return (
    <li class="jobs-sweep">
      <JobState job={job()} />
      <a class="mono" href={href('/jobs/:id', { id: job().id })}>{String(job().arguments['network'] ?? job().name)}</a>
      <Show when={job().state === 'running' && (job().progress?.total ?? 0) > 0 ? job().progress : undefined}>
        {(progress) => <Bar tone="info" value={progress().done} max={progress().total} text={`${count(progress().done)} of ${count(progress().total)}${progress().text ? `, ${progress().text}` : ''}`} />}
      </Show>
      <Show when={job().failure}>{(failure) => <span class="small jobs-error">{failure()}</span>}</Show>
      <span class="spring" />
      <Show when={job().state === 'completed'}><a class="button dense" href={href('/jobs/:id', { id: job().id }, { tab: 'proposal' })}>Look at the proposal</a></Show>
      <span class="muted small"><Time at={job().created_at} relative /></span>
    </li>
  );
}
