// Who adaptive polling is for: everybody, some classes, some groups, a list, or a share of the fleet.
import { createMemo, createSignal, createUniqueId, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { Field, NumberField, TextAreaField } from '../../design';
import type { FieldProps } from '../../design/Form';
import { count, plural } from '../../logic/format';
import { fleet } from '../../state/fleet';
import { formatScope, parseScope } from './setting_kind';
import type { Scope, ScopeKind } from './setting_kind';

const kKinds: readonly { value: ScopeKind; label: string }[] = [
  { value: 'all', label: 'Everybody' },
  { value: 'percent', label: 'A share of the targets, always the same ones' },
  { value: 'classes', label: 'Targets of some addons' },
  { value: 'groups', label: 'Members of some groups' },
  { value: 'targets', label: 'A list of targets' },
];

export function ScopeField(props: FieldProps & { value: string; onChange: (value: string) => void }): JSX.Element {
  const scope = createMemo(() => parseScope(props.value));
  // Another kind begins with what was last chosen of it.
  const [kept, setKept] = createSignal<Partial<Record<ScopeKind, Scope>>>({});
  const change = (next: Scope) => {
    setKept((before) => ({ ...before, [next.kind]: next }));
    props.onChange(formatScope(next));
  };
  const choose = (kind: ScopeKind) => change(kept()[kind] ?? { kind, names: [], percent: kind === 'percent' ? 10 : 100 });
  const off = () => props.locked !== undefined;
  const known = createMemo(() => tally(scope().kind));
  const missing = () => scope().names.filter((name) => !known().some(([one]) => one === name));
  const toggle = (name: string) =>
    change({ ...scope(), names: scope().names.includes(name) ? scope().names.filter((one) => one !== name) : [...scope().names, name] });
  return (
    <div class="stack settings-scope">
      <Field {...props}>
        {(wiring) => (
          <select {...wiring} class="input" onChange={(event) => choose(event.currentTarget.value as ScopeKind)}>
            <For each={kKinds}>{(one) => <option value={one.value} selected={one.value === scope().kind}>{one.label}</option>}</For>
          </select>
        )}
      </Field>
      <Show when={scope().kind === 'percent' && !off()}>
        <div class="settings-percent">
          <input type="range" min={0} max={100} step={1} aria-label="Share of the targets in percent" value={Number.isFinite(scope().percent) ? scope().percent : 0} onInput={(event) => change({ ...scope(), percent: event.currentTarget.valueAsNumber })} />
          <NumberField label="Share" unit="%" min={0} max={100} value={Number.isFinite(scope().percent) ? scope().percent : null} onInput={(value) => change({ ...scope(), percent: value ?? Number.NaN })} />
        </div>
        <Show when={fleet.loaded() && Number.isFinite(scope().percent)}>
          <p class="muted small">About {count(Math.round((fleet.targets().length * scope().percent) / 100))} of {plural(fleet.targets().length, 'target')}. A larger share holds the smaller one.</p>
        </Show>
      </Show>
      <Show when={(scope().kind === 'classes' || scope().kind === 'groups') && !off()}>
        <fieldset class="settings-picks">
          <legend class="small">{scope().kind === 'classes' ? 'Addons' : 'Groups'}</legend>
          <For each={[...known(), ...missing().map((name): [string, number] => [name, 0])]} fallback={<span class="muted small">The fleet has none.</span>}>
            {([name, targets]) => <Pick name={name} note={plural(targets, 'target')} chosen={scope().names.includes(name)} onToggle={() => toggle(name)} />}
          </For>
        </fieldset>
        <Show when={scope().names.length === 0}><p class="muted small">Nothing is chosen yet.</p></Show>
      </Show>
      <Show when={scope().kind === 'targets' && !off()}><Names scope={scope()} onChange={change} /></Show>
    </div>
  );
}

function Pick(props: { name: string; note: string; chosen: boolean; onToggle: () => void }): JSX.Element {
  const id = createUniqueId();
  return (
    <div class="check">
      <input id={id} type="checkbox" checked={props.chosen} onChange={props.onToggle} />
      <label for={id}>{props.name} <span class="muted small">{props.note}</span></label>
    </div>
  );
}

function Names(props: { scope: Scope; onChange: (scope: Scope) => void }): JSX.Element {
  const [text, setText] = createSignal(props.scope.names.join('\n'));
  const names = (value: string) => value.split(/[\n,]/).map((one) => one.trim()).filter((one) => one !== '');
  const strange = () => (fleet.loaded() ? names(text()).filter((one) => fleet.find(one) === undefined) : []);
  return (
    <TextAreaField
      label="Targets (keys, one per line)"
      mono
      rows={5}
      placeholder="snmp-system::switch-1"
      value={text()}
      error={strange().length > 0 ? `Not in the fleet: ${strange().slice(0, 5).join(', ')}${strange().length > 5 ? ' …' : ''}` : undefined}
      onInput={(value) => {
        setText(value);
        props.onChange({ ...props.scope, names: names(value) });
      }}
    />
  );
}

/** Addons or groups of the fleet with how many targets they have, the largest first. */
function tally(kind: ScopeKind): [string, number][] {
  const found = new Map<string, number>();
  for (const target of fleet.targets()) {
    for (const name of kind === 'classes' ? [target.addon] : kind === 'groups' ? target.groups : []) found.set(name, (found.get(name) ?? 0) + 1);
  }
  return [...found].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}
