// Groups of devices, and sources that devices come from.
import { createMemo, createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { allItems, api, path } from '../../api/client';
import { Button, EmptyState, FormDialog, FormErrors, Loaded, TextAreaField, TextField, useForm } from '../../design';
import { keepRows } from '../../logic/keep_rows';
import { polled } from '../../state/polled';
import { fleet } from '../../state/fleet';
import { whyNot } from '../../state/session';
import { askAndDo, saveForm, store } from './acts';
import { formOf, kGroups, kSources, specOf, wordsOf } from './fleet_lists';
import type { FleetList, Part, Spec } from './fleet_lists';
import { OwnedActs, Owner } from './Owner';
import type { FleetObject } from './shapes';

type Listed = FleetObject<Spec>;

export function FleetLists(): JSX.Element {
  return <div class="stack"><List about={kGroups} /><List about={kSources} /></div>;
}

function List(props: { about: FleetList }): JSX.Element {
  const about = props.about;
  const found = polled((signal) => allItems<Listed>(`api/${about.list}`, {}, 5000, signal), { every: 60_000 });
  const [editing, setEditing] = createSignal<Listed | 'new' | null>(null);
  const rows = createMemo<readonly Listed[]>((before) => keepRows(before, found.data() ?? [], (row) => row.name), []);
  const refresh = () => {
    void found.refresh();
    void fleet.refresh();
  };
  const remove = (one: Listed) =>
    askAndDo(
      { title: `Remove the ${about.one} ${one.name}?`, text: about.removal, action: 'Remove', danger: true },
      () => api.delete(`api/${about.list}/${path`${one.name}`}`),
      { done: () => `The ${about.one} ${one.name} is removed.`, failed: `${one.name} could not be removed` },
      refresh,
    );
  return (
    <section class="stack" aria-label={about.title}>
      <div class="row"><h2>{about.title}</h2><span class="muted small">{about.about}</span><span class="spring" /><Button icon="plus" disabledReason={whyNot('manage')} onClick={() => setEditing('new')}>Add a {about.one}</Button></div>
      <Loaded data={found.data()} problem={found.problem()} retry={found.refresh} title={`The ${about.list} could not be loaded`} lines={3}>
        {() => (
          <Show when={rows().length > 0} fallback={<div class="panel"><EmptyState icon="tree" title={`No ${about.list} yet`} text={about.none} /></div>}>
            <ul class="panel settings-routes">
              <For each={rows()}>
                {(one) => (
                  <li class="row">
                    <strong>{one.name}</strong><Owner object={one} />
                    <span class="muted">{wordsOf(about.parts, one.spec)}</span>
                    <span class="spring" />
                    <OwnedActs kind={about.list} object={one} refresh={refresh} onEdit={() => setEditing(one)} onRemove={() => void remove(one)} />
                  </li>
                )}
              </For>
            </ul>
          </Show>
        )}
      </Loaded>
      <Show when={editing()} keyed>{(one) => <Editor about={about} known={one === 'new' ? null : one} onClose={() => setEditing(null)} onDone={() => (setEditing(null), refresh())} />}</Show>
    </section>
  );
}

function Editor(props: { about: FleetList; known: Listed | null; onClose: () => void; onDone: () => void }): JSX.Element {
  const { about, known } = props;
  const first = formOf(about.parts, known?.spec ?? {});
  const [name, setName] = createSignal(known?.name ?? '');
  const [values, setValues] = createSignal(first.values);
  const [rest, setRest] = createSignal(first.rest);
  const form = useForm();
  const save = () =>
    void saveForm(
      form,
      async () => store(about.list, known, name().trim(), specOf(about.parts, { values: values(), rest: rest() })),
      () => [`The ${about.one} ${name().trim()} is stored.`],
      props.onDone,
    );
  const error = (part: string) => form.problem()?.inside(part);
  const field = (part: Part) => {
    const wiring = { label: part.label, get value() { return values()[part.name] ?? ''; }, onInput: (value: string) => setValues((all) => ({ ...all, [part.name]: value })), placeholder: part.placeholder, help: part.help };
    return part.kind === 'text' ? <TextField {...wiring} error={error(part.name)} /> : <TextAreaField {...wiring} mono rows={2} error={error(part.name)} />;
  };
  return (
    <FormDialog title={known === null ? `Add a ${about.one}` : `Edit the ${about.one} ${known.name}`} wide action={known === null ? 'Add' : 'Save'} busy={form.busy()} onClose={props.onClose} onSubmit={save}>
      <FormErrors problem={form.problem()} fields={['/name', ...(form.problem()?.pointersInside(about.parts.map((part) => part.name)) ?? [])]} />
      <Show when={known === null}><TextField label="Name" value={name()} onInput={setName} autofocus error={form.problem()?.field('/name')} /></Show>
      <div class="settings-pair"><For each={about.parts}>{field}</For></div>
      <TextAreaField label="Other settings (JSON, optional)" mono rows={3} value={rest()} onInput={setRest} help="Everything else that the fleet files know, such as interval, labels, alerts." />
    </FormDialog>
  );
}
