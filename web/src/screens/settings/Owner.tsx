// Who owns an object: files and discovery do until somebody adopts it.
import { Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, path } from '../../api/client';
import { Badge } from '../../design';
import type { MenuEntry } from '../../design';
import { whyNot } from '../../state/session';
import { askAndDo } from './acts';
import { ActsMenu } from './ActsMenu';
import type { FleetObject } from './shapes';

type Kind = 'credentials' | 'groups' | 'sources' | 'receivers' | 'routes' | 'silences';

export function isOwned(object: FleetObject<unknown>): string | undefined {
  if (object.origin === 'api') return undefined;
  return object.origin === 'file' ? 'It comes from the fleet files: change it there, or adopt it first.' : 'Discovery made it: adopt it first.';
}

export function Owner(props: { object: FleetObject<unknown> }): JSX.Element {
  return <Show when={props.object.origin !== 'api'}><Badge tone="warn" title={isOwned(props.object) ?? ''}>{props.object.origin === 'file' ? 'from files' : props.object.origin}</Badge></Show>;
}

/** Taking it over from files or discovery; nothing if it is ours already. */
export function adoptEntry(kind: Kind, object: FleetObject<unknown>, done: () => unknown): MenuEntry[] {
  if (object.origin === 'api') return [];
  const adopt = () =>
    askAndDo(
      { title: `Adopt ${object.name}?`, text: 'It is then changed here and over the API, and applying the files touches it no more.', action: 'Adopt' },
      () => api.post(`api/${kind}/${path`${object.name}`}/adopt`),
      { done: () => `${object.name} can be changed here now.`, failed: `${object.name} could not be adopted` },
      done,
    );
  return [{ label: 'Adopt, to change it here', icon: 'lock', disabledReason: whyNot('manage'), run: () => void adopt() }];
}

/** Edit, adopt and remove, as far as the role and the owner of the object allow it. */
export function OwnedActs(props: { kind: Kind; object: FleetObject<unknown>; refresh: () => unknown; edit?: string; onEdit: () => void; onRemove: () => void }): JSX.Element {
  const refused = () => whyNot('manage') ?? isOwned(props.object);
  return (
    <ActsMenu
      name={props.object.name}
      entries={() => [
        { label: props.edit ?? 'Edit', icon: 'edit', disabledReason: refused(), run: props.onEdit },
        ...adoptEntry(props.kind, props.object, props.refresh),
        { kind: 'line' },
        { label: 'Remove', icon: 'trash', danger: true, disabledReason: refused(), run: props.onRemove },
      ]}
    />
  );
}
