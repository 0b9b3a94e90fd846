import { createSignal, Index, Match, onCleanup, onMount, Show, Switch } from 'solid-js';
import type { JSX } from 'solid-js';
import { Portal } from 'solid-js/web';
import { Button } from './Button';
import type { ButtonProps } from './Button';
import { Icon } from './Icon';
import type { IconName } from './Icon';
import './menu.css';

export type MenuEntry =
  | { kind?: 'item'; label: string; icon?: IconName; danger?: boolean; disabledReason?: string | undefined; checked?: boolean; hint?: string; keepOpen?: boolean; run: () => void }
  | { kind: 'title'; label: string }
  | { kind: 'line' };

type Item = Extract<MenuEntry, { run: () => void }>;

/** <Menu label="More" icon="more" bare entries={() => [{ label: 'Disable', run: disable }]} /> */
export function Menu(props: Omit<ButtonProps, 'onClick' | 'ref'> & { entries: () => readonly MenuEntry[]; align?: 'start' | 'end' }): JSX.Element {
  const [open, setOpen] = createSignal(false);
  let button!: HTMLButtonElement;
  const close = (refocus = true) => {
    setOpen(false);
    if (refocus) button.focus();
  };
  return (
    <>
      <Button
        {...props}
        ref={(element) => (button = element)}
        aria-haspopup="menu"
        aria-expanded={open()}
        onClick={() => setOpen(!open())}
      />
      <Show when={open()}>
        <Portal>
          <MenuList button={button} entries={props.entries} align={props.align ?? 'start'} close={close} label={props.label ?? ''} />
        </Portal>
      </Show>
    </>
  );
}

function MenuList(props: {
  button: HTMLElement;
  entries: () => readonly MenuEntry[];
  align: 'start' | 'end';
  label: string;
  close: (refocus?: boolean) => void;
}): JSX.Element {
  let list!: HTMLDivElement;
  const items = () => [...list.querySelectorAll<HTMLElement>('.menu-item')];
  const move = (to: number) => {
    const all = items();
    all[(to + all.length) % all.length]?.focus();
  };
  const outside = (event: Event) => {
    const at = event.target as Node;
    if (!list.contains(at) && !props.button.contains(at)) props.close(false);
  };
  onMount(() => {
    const from = props.button.getBoundingClientRect();
    const own = list.getBoundingClientRect();
    const left = props.align === 'end' ? from.right - own.width : from.left;
    list.style.left = `${Math.max(8, Math.min(left, innerWidth - own.width - 8))}px`;
    const below = from.bottom + 4;
    list.style.top = `${below + own.height > innerHeight - 8 ? Math.max(8, from.top - own.height - 4) : below}px`;
    move(0);
    document.addEventListener('mousedown', outside);
    document.addEventListener('scroll', outside, true);
  });
  onCleanup(() => {
    document.removeEventListener('mousedown', outside);
    document.removeEventListener('scroll', outside, true);
  });
  const keys = (event: KeyboardEvent) => {
    event.stopPropagation();
    const at = items().indexOf(document.activeElement as HTMLElement);
    if (event.key === 'ArrowDown' || event.key === 'j') move(at + 1);
    else if (event.key === 'ArrowUp' || event.key === 'k') move(at - 1);
    else if (event.key === 'Home') move(0);
    else if (event.key === 'End') move(-1);
    else if (event.key === 'Escape' || event.key === 'Tab') props.close();
    else return;
    event.preventDefault();
  };
  return (
    <div ref={list} class="menu-list popup" role="menu" aria-label={props.label} onKeyDown={keys}>
      {/* By place: a choice that changes the entries does not take the focus away with the button. */}
      <Index each={props.entries()}>
        {(entry) => (
          <Switch fallback={<MenuItem entry={entry() as Item} close={() => props.close()} />}>
            <Match when={entry().kind === 'line'}><div class="menu-line" role="separator" /></Match>
            <Match when={entry().kind === 'title'}><div class="menu-title">{(entry() as { label: string }).label}</div></Match>
          </Switch>
        )}
      </Index>
    </div>
  );
}

function MenuItem(props: { entry: Item; close: () => void }): JSX.Element {
  return (
    <button
      type="button"
      class="menu-item"
      classList={{ danger: props.entry.danger === true }}
      role={props.entry.checked === undefined ? 'menuitem' : 'menuitemcheckbox'}
      aria-checked={props.entry.checked}
      aria-disabled={props.entry.disabledReason !== undefined ? 'true' : undefined}
      title={props.entry.disabledReason}
      tabindex={-1}
      onClick={() => {
        const entry = props.entry;
        if (entry.disabledReason !== undefined) return;
        if (entry.keepOpen !== true) props.close();
        entry.run();
      }}
    >
      <Show when={props.entry.checked !== undefined}>
        <Show when={props.entry.checked} fallback={<svg width="16" height="16" aria-hidden="true" />}><Icon name="check" /></Show>
      </Show>
      <Show when={props.entry.icon}>{(name) => <Icon name={name()} />}</Show>
      <span>{props.entry.label}</span>
      <Show when={props.entry.hint}><span class="spring" /><span class="muted small">{props.entry.hint}</span></Show>
    </button>
  );
}
