// Keys of the whole page. A screen adds its own for as long as it is shown:
//   useKeys('Fleet', { 'p': ['Poll what is selected', pollSelected] });
// Two keys in a row are written with a space: 'g f'. Nothing happens while somebody types, and nothing behind a dialog.
import { createSignal, onCleanup } from 'solid-js';
import type { KeyHint } from '../design/KeyHelp';

type Action = readonly [does: string, run: () => void];
interface Binding {
  place: string;
  actions: Record<string, Action>;
}

const [bindings, setBindings] = createSignal<readonly Binding[]>([]);
let prefix = '';
let prefixTimer: ReturnType<typeof setTimeout> | undefined;

export function useKeys(where: string, actions: Record<string, Action>): void {
  const binding: Binding = { place: where, actions };
  setBindings((all) => [...all, binding]);
  onCleanup(() => setBindings((all) => all.filter((one) => one !== binding)));
}

export function keyHints(): KeyHint[] {
  return bindings().flatMap((binding) =>
    Object.entries(binding.actions).map(([keys, [does]]) => ({ keys, does, place: binding.place })),
  );
}

function typing(event: KeyboardEvent): boolean {
  const at = event.target as HTMLElement | null;
  return at !== null && (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName)) && (at as HTMLInputElement).type !== 'checkbox';
}

export function handleKey(event: KeyboardEvent): void {
  if (document.querySelector('dialog[open]') !== null) return;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing(event)) return;
  const wanted = prefix === '' ? event.key : `${prefix} ${event.key}`;
  prefix = '';
  clearTimeout(prefixTimer);
  const all = [...bindings()].reverse(); // the newest, which is the screen, first
  for (const binding of all) {
    const action = binding.actions[wanted];
    if (action === undefined) continue;
    event.preventDefault();
    action[1]();
    return;
  }
  if (all.some((binding) => Object.keys(binding.actions).some((keys) => keys.startsWith(`${event.key} `)))) {
    prefix = event.key;
    prefixTimer = setTimeout(() => (prefix = ''), 1200);
  }
}
