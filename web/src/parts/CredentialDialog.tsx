// Credentials are made where they are needed: a button beside the field that names one, with its dialog.
import { createSignal, For, Show } from 'solid-js';
import { Portal } from 'solid-js/web';
import type { JSX } from 'solid-js';
import { allItems, api, path } from '../api/client';
import { Button, FormDialog, FormErrors, SelectField, TextField, toast, useForm } from '../design';
import { whyNot } from '../state/session';
import { credentialSpec, kCredentialKinds, kindOf, missing, valuesOf } from './credential';
import type { CredentialSpec } from './credential';
import { fetched } from './fetched';
import type { Fetched } from './fetched';
import type { FleetObject } from './model';

export type Credential = FleetObject<CredentialSpec>;

export function credentialNames(): Fetched<string[]> {
  return fetched(() => 'credentials', async (_, signal) => (await allItems<{ name: string }>('api/credentials', {}, 5000, signal)).map((one) => one.name));
}

/** Adds one, or replaces what one holds: a secret is written and never shown. */
export function CredentialDialog(props: { known: Credential | null; kind?: string | undefined; onClose: () => void; onDone: (name: string) => void }): JSX.Element {
  const before = props.known?.spec ?? {};
  const first = props.known === null ? (kCredentialKinds.find((one) => one.id === props.kind) ?? kCredentialKinds[0] ?? kindOf({})) : kindOf(before);
  const [name, setName] = createSignal(props.known?.name ?? '');
  const [kind, setKind] = createSignal(first);
  const [values, setValues] = createSignal<Record<string, string>>(valuesOf(first, before));
  const [tried, setTried] = createSignal(false);
  const form = useForm();
  const lacks = (part: string) => tried() && missing(kind(), values(), before).includes(part);
  const kept = (part: string) => before[part] !== undefined;
  const save = () => {
    setTried(true);
    if (name().trim() === '' || missing(kind(), values(), before).length > 0) return;
    void form.run(async () => {
      const spec = credentialSpec(kind(), values(), before);
      if (props.known === null) await api.post('api/credentials', { name: name().trim(), ...spec });
      else await api.put(path`api/credentials/${props.known.name}`, spec, { ifMatch: `"v${props.known.version}"` });
      toast('ok', `The credential ${name().trim()} is stored`, 'Its secrets are sealed; nobody is shown them again.');
      props.onDone(name().trim());
    });
  };
  return (
    <FormDialog title={props.known === null ? 'Add a credential' : `Replace the credential ${props.known.name}`} action={props.known === null ? 'Add the credential' : 'Replace'} busy={form.busy()} onClose={props.onClose} onSubmit={save}>
      <FormErrors problem={form.problem()} fields={['/name', ...kind().parts.map((part) => `/${part.name}`)]} />
      <Show when={props.known === null}>
        <TextField label="Name of the credential" value={name()} onInput={setName} autofocus placeholder="core-switches" error={form.problem()?.field('/name') ?? (tried() && name().trim() === '' ? 'A name is needed.' : undefined)} />
      </Show>
      <SelectField label="Kind" value={kind().id} onChange={(id) => setKind(kCredentialKinds.find((one) => one.id === id) ?? kind())} choices={kCredentialKinds.map((one) => ({ value: one.id, label: one.label }))} />
      <For each={kind().parts}>
        {(part) => {
          const error = () => form.problem()?.field(`/${part.name}`) ?? (lacks(part.name) ? `${part.label} is needed.` : undefined);
          const set = (value: string) => setValues((all) => ({ ...all, [part.name]: value }));
          return (
            <Show
              when={part.choices}
              fallback={
                <TextField
                  label={part.label}
                  type={part.secret ? 'password' : 'text'}
                  autocomplete={part.secret ? 'new-password' : 'off'}
                  value={values()[part.name] ?? ''}
                  onInput={set}
                  placeholder={part.secret && kept(part.name) ? 'stays as it is' : part.placeholder}
                  help={part.help}
                  error={error()}
                />
              }
            >
              {(choices) => <SelectField label={part.label} value={values()[part.name] ?? ''} onChange={set} choices={choices().map((one) => ({ value: one, label: one === '' ? 'none' : one }))} help={part.help} error={error()} />}
            </Show>
          );
        }}
      </For>
    </FormDialog>
  );
}

/** <AddCredential kind="snmp3" onAdded={(name) => setCredential(name)} /> beside a field that names a credential. */
export function AddCredential(props: { kind?: string | undefined; onAdded: (name: string) => void }): JSX.Element {
  const [open, setOpen] = createSignal(false);
  return (
    <div>
      <Button dense icon="plus" disabledReason={whyNot('manage')} onClick={() => setOpen(true)}>Add a credential</Button>
      {/* Not inside of the form that it stands in: what is submitted there is another one. */}
      <Show when={open()}>
        <Portal><CredentialDialog known={null} kind={props.kind} onClose={() => setOpen(false)} onDone={(name) => (setOpen(false), props.onAdded(name))} /></Portal>
      </Show>
    </div>
  );
}
