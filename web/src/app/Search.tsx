// Search of the whole page, by `/`: targets, devices and screens as one types; Enter goes there.
import { createMemo, createSignal, createUniqueId, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { Icon } from '../design/Icon';
import { StateMark } from '../design/StateMark';
import { plural } from '../logic/format';
import { searchFleet } from '../logic/search';
import { fleet } from '../state/fleet';
import { href, navigate } from './router';
import { routes } from './routes';
import '../design/filter_input.css';
import '../design/form.css';

interface Hit {
  label: string;
  help: string;
  state?: string;
  to: string;
}

const kMost = 10;

function hits(text: string): Hit[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [];
  const found: Hit[] = [];
  for (const route of routes) {
    if (route.nav && route.title.toLowerCase().startsWith(wanted)) found.push({ label: route.title, help: 'screen', to: href(route.path) });
  }
  const { devices, targets } = searchFleet(fleet.targets(), wanted, kMost);
  for (const one of devices) found.push({ label: one.name, help: `device, ${plural(one.targets, 'target')}`, to: href('/devices/:name', { name: one.name }) });
  for (const target of targets) found.push({ label: target.key, help: target.address, state: target.state, to: targetLink(target.key) });
  found.push({ label: `Filter the fleet by “${text.trim()}”`, help: 'fleet', to: href('/fleet', {}, { filter: text.trim() }) });
  return found;
}

function targetLink(key: string): string {
  return routes.some((route) => route.name === 'target')
    ? href('/targets/:key', { key })
    : href('/fleet', {}, { filter: `key=${key}` });
}

export function Search(props: { ref: (element: HTMLInputElement) => void }): JSX.Element {
  const list = createUniqueId();
  const [text, setText] = createSignal('');
  const [at, setAt] = createSignal(0);
  const [open, setOpen] = createSignal(false);
  const found = createMemo(() => (open() ? hits(text()) : []));
  let input!: HTMLInputElement;
  const go = (hit: Hit | undefined) => {
    if (hit === undefined) return;
    setText('');
    setOpen(false);
    input.blur();
    navigate(hit.to);
  };
  const keys = (event: KeyboardEvent) => {
    event.stopPropagation();
    const most = found().length;
    if (event.key === 'ArrowDown' && most > 0) setAt((at() + 1) % most);
    else if (event.key === 'ArrowUp' && most > 0) setAt((at() + most - 1) % most);
    else if (event.key === 'Enter') go(found()[at()]);
    else if (event.key === 'Escape') (setText(''), input.blur());
    else return;
    event.preventDefault();
  };
  return (
    <div class="search" role="search">
      <Icon name="search" />
      <input
        ref={(element) => {
          input = element;
          props.ref(element);
        }}
        class="input"
        type="text"
        role="combobox"
        aria-label="Search targets, devices and screens"
        aria-expanded={found().length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={found().length > 0 ? `${list}-${at()}` : undefined}
        placeholder="Search"
        autocomplete="off"
        spellcheck={false}
        value={text()}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setTimeout(() => setOpen(false), 120)}
        onKeyDown={keys}
      />
      <Show when={text() === ''}><kbd>/</kbd></Show>
      <div class="suggestions popup" id={list} role="listbox" aria-label="Found" hidden={found().length === 0}>
        <For each={found()}>
          {(hit, index) => (
            <div class="suggestion" id={`${list}-${index()}`} role="option" aria-selected={index() === at()} onMouseDown={(event) => (event.preventDefault(), go(hit))}>
              <Show when={hit.state}>{(state) => <StateMark state={state()} short />}</Show>
              <span class="cut">{hit.label}</span>
              <span class="muted small">{hit.help}</span>
            </div>
          )}
        </For>
      </div>
    </div>
  );
}
