import type { JSX } from 'solid-js';
import { Menu } from '../../design';
import type { MenuEntry } from '../../design';

/** What can be done with one object of a list. */
export function ActsMenu(props: { name: string; entries: () => readonly MenuEntry[] }): JSX.Element {
  return <Menu label={`Acts on ${props.name}`} icon="more" bare dense kind="quiet" align="end" entries={props.entries} />;
}
