// Sweeps of networks: the form, and the sweeps so far with what they propose. Nothing is applied here.
import { createMemo, createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { href, navigate } from '../../app/router';
import { api, asProblem } from '../../api/client';
import type { Problem } from '../../api/client';
import { Bar, Button, FormErrors, Loaded, NumberField, TextField, Time, toast } from '../../design';
import { count, duration } from '../../logic/format';
import { AddCredential } from '../../parts/CredentialDialog';
import { fetched } from '../../parts/fetched';
import { whyNot } from '../../state/session';
import { JobState } from './JobList';
import { ended } from './model';
import type { Job, JobType } from './model';
import { addressCount, sweepBody } from './sweep';
import type { Sweep } from './sweep';
import { kSoonest, watchJobs } from './watch';

const kFields = ['/network', '/methods', '/credentials', '/rate', '/snmp_port', '/ssh_port', '/http_port', '/https_port'];
const kMethodWords: Record<string, string> = { icmp: 'Ping', snmp: 'SNMP', ssh: 'SSH banner', http: 'HTTP', https: 'HTTPS' };

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
  const types = fetched(() => 'types', (_, signal) => api.get<{ items: JobType[] }>('api/job-types', { signal }));
  const methods = createMemo(() => types.data()?.items.find((type) => type.name === 'discovery')?.arguments.find((one) => one.name === 'methods')?.words ?? Object.keys(kMethodWords));
  const [sweep, setSweep] = createSignal<Sweep>({ network: '', methods: new Set(Object.keys(kMethodWords)), credentials: '', rate: null, ports: {} });
  const [problem, setProblem] = createSignal<Problem | null>(null);
  const [busy, setBusy] = createSignal(false);
  const set = (change: Partial<Sweep>) => setSweep((before) => ({ ...before, ...change }));
  const size = createMemo(() => addressCount(sweep().network));
  const sizeWords = () => {
    const addresses = size();
    if (addresses === null) return 'An address with the length of its network: 192.0.2.0/24, fd00::/120.';
    if (addresses > 65536) return `${count(addresses)} addresses: at most 65,536 are swept at once.`;
    return `${count(addresses)} ${addresses === 1 ? 'address' : 'addresses'}, about ${duration(Math.max(1, addresses / (sweep().rate ?? 50)))} at ${count(sweep().rate ?? 50)} per second.`;
  };
  const toggle = (name: string) => {
    const next = new Set(sweep().methods);
    if (!next.delete(name)) next.add(name);
    set({ methods: next });
  };
  const start = async () => {
    if (busy()) return;
    setBusy(true);
    setProblem(null);
    try {
      const answer = await api.post<{ job: Job }>('api/targets/discover', sweepBody(sweep(), methods()));
      toast('ok', `The sweep of ${sweep().network.trim()} has begun`);
      navigate(href('/jobs/:id', { id: answer.job.id }));
    } catch (error) {
      setProblem(asProblem(error));
    } finally {
      setBusy(false);
    }
  };
  const ports = () => ['snmp', 'ssh', 'http', 'https'].filter((name) => sweep().methods.has(name));
  return (
    <section class="panel" aria-labelledby="jobs-sweep">
      <div class="panel-head"><h2 id="jobs-sweep">Sweep a network</h2><span class="muted small">finds devices and proposes them; nothing is applied before you accept it</span></div>
      <form class="panel-body jobs-form" onSubmit={(event) => (event.preventDefault(), void start())}>
        <FormErrors problem={problem()} fields={kFields} />
        <TextField label="Network" mono value={sweep().network} onInput={(network) => set({ network })} placeholder="192.0.2.0/24" help={sizeWords()} error={problem()?.field('/network')} />
        <fieldset class="jobs-methods">
          <legend>Ask by</legend>
          <For each={methods()}>
            {(name) => <label class="check"><input type="checkbox" checked={sweep().methods.has(name)} onChange={() => toggle(name)} /><span>{kMethodWords[name] ?? name}</span></label>}
          </For>
        </fieldset>
        <details class="jobs-more more">
          <summary>Ports, credentials and speed</summary>
          <div class="jobs-fields">
            <TextField label="Credentials for SNMP" value={sweep().credentials} onInput={(credentials) => set({ credentials })} help="Names of credentials of the fleet, tried in turn; not given: the community public." error={problem()?.field('/credentials')} />
            <AddCredential kind="community" onAdded={(name) => set({ credentials: [sweep().credentials, name].filter((one) => one !== '').join(', ') })} />
            <NumberField label="Addresses per second" value={sweep().rate} min={1} onInput={(rate) => set({ rate })} error={problem()?.field('/rate')} />
            <For each={ports()}>
              {(name) => <NumberField label={`Port of ${kMethodWords[name]?.split(' ')[0] ?? name}`} min={1} max={65535} value={sweep().ports[name] ?? null} onInput={(port) => set({ ports: { ...sweep().ports, [name]: port } })} error={problem()?.field(`/${name}_port`)} />}
            </For>
          </div>
        </details>
        <div class="row">
          <Button kind="primary" type="submit" icon="search" busy={busy()} disabled={sweep().network.trim() === '' || sweep().methods.size === 0} disabledReason={whyNot('operate')}>Start the sweep</Button>
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
