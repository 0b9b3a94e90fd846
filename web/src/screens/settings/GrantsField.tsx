// Grants: roles, each for everything or for what has some labels.
import { For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import type { Problem } from '../../api/client';
import type { Grant } from '../../api/model';
import { Badge, Button, SelectField, TextField } from '../../design';

export const kRoles = [
  { value: 'viewer', label: 'viewer: sees everything' },
  { value: 'operator', label: 'operator: also polls, runs jobs, acknowledges' },
  { value: 'admin', label: 'admin: also changes what is configured, and users' },
  { value: 'auditor', label: 'auditor: sees everything and the audit trail' },
];

export function GrantsField(props: { grants: readonly Grant[]; onChange: (grants: Grant[]) => void; problem: Problem | null; none: string }): JSX.Element {
  const set = (place: number, change: Partial<Grant>) => props.onChange(props.grants.map((one, at) => (at === place ? { ...one, ...change } : one)));
  return (
    <fieldset class="settings-grants">
      <legend>Grants</legend>
      {/* By index: a grant is edited in place and keeps the cursor. */}
      <For each={props.grants.map((_, place) => place)} fallback={<p class="muted small">{props.none}</p>}>
        {(place) => (
          <div class="settings-grant">
            <SelectField label="Role" value={props.grants[place]?.role ?? 'viewer'} onChange={(role) => set(place, { role })} choices={kRoles} error={props.problem?.field(`/grants/${place}/role`)} />
            <TextField label="Only for (labels; empty: everything)" mono placeholder="site=berlin,tier!=lab" value={props.grants[place]?.selector ?? ''} onInput={(selector) => set(place, { selector })} error={props.problem?.field(`/grants/${place}/selector`)} />
            <Button bare icon="trash" label={`Take grant ${place + 1} away`} onClick={() => props.onChange(props.grants.filter((_, at) => at !== place))} />
          </div>
        )}
      </For>
      <div><Button dense icon="plus" onClick={() => props.onChange([...props.grants, { role: 'viewer' }])}>Add a grant</Button></div>
    </fieldset>
  );
}

/** As the API takes them: an empty selector is left out. */
export function cleanGrants(grants: readonly Grant[]): Grant[] {
  return grants.map(({ role, selector }) => (selector === undefined || selector.trim() === '' ? { role } : { role, selector: selector.trim() }));
}

export function Grants(props: { grants: readonly Grant[] | undefined; none?: string }): JSX.Element {
  return (
    <Show when={(props.grants ?? []).length > 0} fallback={<span class="muted">{props.none ?? 'none'}</span>}>
      <span class="settings-badges"><For each={props.grants}>{(one) => <Badge tone={one.role === 'admin' ? 'info' : 'mute'} title={one.selector ? `only for ${one.selector}` : 'for everything'}>{one.role}{one.selector ? ` (${one.selector})` : ''}</Badge>}</For></span>
    </Show>
  );
}
