import { Show, splitProps } from 'solid-js';
import type { JSX } from 'solid-js';
import { Icon } from './Icon';
import type { IconName } from './Icon';
import './button.css';

export interface ButtonProps {
  kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  icon?: IconName;
  /** Only the icon; `label` is then what screen readers and the title say. */
  bare?: boolean;
  dense?: boolean;
  label?: string;
  busy?: boolean;
  disabled?: boolean;
  /** Why it cannot be pressed: shown as its title, and it stays reachable by keyboard. */
  disabledReason?: string | undefined;
  pressed?: boolean;
  type?: 'button' | 'submit';
  class?: string;
  title?: string;
  ref?: (element: HTMLButtonElement) => void;
  onClick?: (event: MouseEvent) => void;
  children?: JSX.Element;
  'aria-haspopup'?: 'menu' | 'dialog' | 'listbox';
  'aria-expanded'?: boolean;
  'aria-controls'?: string;
}

/** <Button kind="primary" icon="play" onClick={poll} disabledReason={whyNot('operate')}>Poll now</Button> */
export function Button(props: ButtonProps): JSX.Element {
  const [own, rest] = splitProps(props, [
    'kind', 'icon', 'bare', 'dense', 'label', 'busy', 'disabled', 'disabledReason', 'pressed', 'type', 'class',
    'title', 'onClick', 'children', 'ref',
  ]);
  const off = () => own.disabled === true || own.disabledReason !== undefined || own.busy === true;
  return (
    <button
      {...rest}
      ref={own.ref}
      type={own.type ?? 'button'}
      class={`button ${own.kind ?? 'plain'} ${own.class ?? ''}`}
      classList={{ bare: own.bare === true, dense: own.dense === true }}
      aria-disabled={off() ? 'true' : undefined}
      aria-busy={own.busy ? 'true' : undefined}
      aria-label={own.label}
      aria-pressed={own.pressed}
      title={own.disabledReason ?? own.title ?? own.label}
      onClick={(event) => {
        if (off()) event.preventDefault();
        else own.onClick?.(event);
      }}
    >
      <Show when={own.busy} fallback={<Show when={own.icon}>{(name) => <Icon name={name()} />}</Show>}>
        <span class="spinner" aria-hidden="true" />
      </Show>
      {own.children}
    </button>
  );
}
