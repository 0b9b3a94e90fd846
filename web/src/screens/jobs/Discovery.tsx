// Sweeps of networks and topologies of the fleet: the forms, and those so far with what they propose.
// Nothing is applied here.
import { createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { href, navigate } from '../../app/router';
import { api } from '../../api/client';
import { Bar, Button, FormErrors, Loaded, TextField, Time, toast, useForm } from '../../design';
import { count } from '../../logic/format';
import { fetched } from '../../parts/fetched';
import { SweepFields, sweepForm } from '../../parts/SweepFields';
import { whyNot } from '../../state/session';
import { JobState } from './JobList';
import { ended } from './model';
import type { Job } from './model';
import { kSoonest, watchJobs } from './watch';

export default function Discovery(): JSX.Element {
  return (
    <div class="jobs-discovery">
      <SweepForm />
      <Past type="discovery" title="Sweeps" none="No network was swept yet." />
      <TopologyForm />
      <Past type="topology" title="Topologies" none="No device was asked for its neighbours yet." />
    </div>
  );
}

function Past(props: { type: string; title: string; none: string }): JSX.Element {
  const jobs = fetched(() => props.type, (type, signal) => api.get<{ items: Job[] }>('api/jobs', { query: { type, limit: 20 }, signal }), { soonest: kSoonest });
  watchJobs(jobs.refetch, () => (jobs.data()?.items ?? []).some((job) => !ended(job)));
  return (
    <section class="panel" aria-labelledby={`jobs-past-${props.type}`}>
      <div class="panel-head"><h2 id={`jobs-past-${props.type}`}>{props.title}</h2></div>
      <Loaded data={jobs.data()} problem={jobs.problem()} retry={jobs.refetch} lines={3}>
        {(found) => <ul class="jobs-sweeps"><For each={found().items} fallback={<li class="muted">{props.none}</li>}>{(job) => <SweepRow job={job} />}</For></ul>}
      </Loaded>
    </section>
  );
}

function TopologyForm(): JSX.Element {
  const [root, setRoot] = createSignal('');
  const { busy, problem, run } = useForm();
  const start = () =>
    void run(async () => {
      const roots = root().split(',').map((name) => name.trim()).filter((name) => name !== '');
      const { ids } = await api.post<{ ids: string[] }>('api/jobs', { name: 'topology', type: 'topology', arguments: roots.length > 0 ? { root: roots } : {} });
      toast('ok', 'Devices are asked for their neighbours');
      navigate(href('/jobs/:id', { id: ids[0] ?? '' }));
    });
  return (
    <section class="panel" aria-labelledby="jobs-topology">
      <div class="panel-head"><h2 id="jobs-topology">Find out what stands behind what</h2><span class="muted small">asks devices by SNMP for their neighbours and proposes parents; nothing is applied before you accept it</span></div>
      <form class="panel-body jobs-form" onSubmit={(event) => (event.preventDefault(), start())}>
        <FormErrors problem={problem()} fields={['/arguments/root']} />
        <TextField label="Root (optional)" value={root()} onInput={setRoot} placeholder="core-1" help="The device that all others stand behind, seen from here; several are parted by commas. Not given: the default gateway of the server." error={problem()?.field('/arguments/root')} />
        <div class="row">
          <Button kind="primary" type="submit" icon="tree" busy={busy()} disabledReason={whyNot('operate')}>Ask the devices</Button>
        </div>
      </form>
    </section>
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
      <a class="mono" href={href('/jobs/:id', { id: job().id })}>{String(job().arguments['network'] ?? job().arguments['root'] ?? job().name)}</a>
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
