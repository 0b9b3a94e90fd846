// A sweep of a network, as people fill it in; on the page of jobs and in the dialog of the first run.
import { createMemo, createSignal, For } from 'solid-js';
import type { JSX } from 'solid-js';
import { api } from '../api/client';
import { FormErrors, NumberField, TextField, useForm } from '../design';
import type { FormState } from '../design/useForm';
import { count, duration } from '../logic/format';
import { AddCredential } from './CredentialDialog';
import { fetched } from './fetched';
import { addressCount, sweepBody } from './sweep';
import type { Sweep } from './sweep';
import './sweep.css';

const kFields = ['/network', '/methods', '/credentials', '/rate', '/snmp_port', '/ssh_port', '/http_port', '/https_port'];
const kMethodWords: Record<string, string> = { icmp: 'Ping', snmp: 'SNMP', ssh: 'SSH banner', http: 'HTTP', https: 'HTTPS' };

interface TypeWords {
  name: string;
  arguments: { name: string; words?: string[] }[];
}

export interface SweepForm extends Pick<FormState, 'busy' | 'problem'> {
  sweep: () => Sweep;
  set: (change: Partial<Sweep>) => void;
  methods: () => readonly string[];
  ready: () => boolean;
  start: () => void;
}

/** `begun` gets the id of the job. */
export function sweepForm(begun: (id: string, network: string) => void): SweepForm {
  const types = fetched(() => 'types', (_, signal) => api.get<{ items: TypeWords[] }>('api/job-types', { signal }));
  const methods = createMemo(() => types.data()?.items.find((type) => type.name === 'discovery')?.arguments.find((one) => one.name === 'methods')?.words ?? Object.keys(kMethodWords));
  const [sweep, setSweep] = createSignal<Sweep>({ network: '', methods: new Set(Object.keys(kMethodWords)), credentials: '', rate: null, ports: {} });
  const { busy, problem, run } = useForm();
  const start = () =>
    void run(async () => {
      const { job } = await api.post<{ job: { id: string } }>('api/targets/discover', sweepBody(sweep(), methods()));
      begun(job.id, sweep().network.trim());
    });
  return {
    sweep,
    set: (change) => setSweep((before) => ({ ...before, ...change })),
    methods,
    busy,
    problem,
    start,
    ready: () => sweep().network.trim() !== '' && sweep().methods.size > 0,
  };
}

export function SweepFields(props: { form: SweepForm }): JSX.Element {
  const { sweep, set, problem } = props.form;
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
  const ports = () => ['snmp', 'ssh', 'http', 'https'].filter((name) => sweep().methods.has(name));
  return (
    <>
      <FormErrors problem={problem()} fields={kFields} />
      <TextField label="Network" mono autofocus value={sweep().network} onInput={(network) => set({ network })} placeholder="192.0.2.0/24" help={sizeWords()} error={problem()?.field('/network')} />
      <fieldset class="sweep-methods">
        <legend>Ask by</legend>
        <For each={props.form.methods()}>
          {(name) => <label class="check"><input type="checkbox" checked={sweep().methods.has(name)} onChange={() => toggle(name)} /><span>{kMethodWords[name] ?? name}</span></label>}
        </For>
      </fieldset>
      <details class="more">
        <summary>Ports, credentials and speed</summary>
        <div class="sweep-more">
          <div class="stack">
            <TextField label="Credentials for SNMP" value={sweep().credentials} onInput={(credentials) => set({ credentials })} help="Names of credentials of the fleet, tried in turn; not given: the community public." error={problem()?.field('/credentials')} />
            <AddCredential kind="community" onAdded={(name) => set({ credentials: [sweep().credentials, name].filter((one) => one !== '').join(', ') })} />
          </div>
          <NumberField label="Addresses per second" value={sweep().rate} min={1} onInput={(rate) => set({ rate })} error={problem()?.field('/rate')} />
          <For each={ports()}>
            {(name) => <NumberField label={`Port of ${kMethodWords[name]?.split(' ')[0] ?? name}`} min={1} max={65535} value={sweep().ports[name] ?? null} onInput={(port) => set({ ports: { ...sweep().ports, [name]: port } })} error={problem()?.field(`/${name}_port`)} />}
          </For>
        </div>
      </details>
    </>
  );
}
