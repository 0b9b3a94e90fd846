import { createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { asProblem } from '../api/problem';
import { Button } from './Button';
import { Icon } from './Icon';
import './toast.css';

interface ToastEntry {
  id: number;
  kind: 'ok' | 'bad' | 'info';
  text: string;
  detail?: string | undefined;
}

const [toasts, setToasts] = createSignal<ToastEntry[]>([]);
let next = 1;

/** toast('ok', '3 targets are polled now'); failures stay until they are closed. */
export function toast(kind: ToastEntry['kind'], text: string, detail?: string): void {
  const id = next++;
  setToasts((all) => [...all, { id, kind, text, detail }].slice(-5));
  if (kind !== 'bad') setTimeout(() => close(id), 6000);
}

/** In a catch: toastProblem(error, 'Polling failed'). */
export function toastProblem(error: unknown, what: string): void {
  const problem = asProblem(error);
  const more = problem.errors.map((one) => `${one.pointer ?? one.parameter ?? ''} ${one.detail}`.trim()).join('; ');
  toast('bad', what, more === '' ? problem.message : `${problem.message} (${more})`);
}

function close(id: number): void {
  setToasts((all) => all.filter((one) => one.id !== id));
}

export function ToastHost(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      <For each={toasts()}>
        {(one) => (
          <div class={`toast tone-${one.kind}`}>
            <Icon name={one.kind === 'ok' ? 'check' : one.kind === 'bad' ? 'warning' : 'info'} />
            <div class="what">
              <strong>{one.text}</strong>
              <Show when={one.detail}><div class="muted small">{one.detail}</div></Show>
            </div>
            <Button kind="quiet" icon="close" bare dense label="Close this message" onClick={() => close(one.id)} />
          </div>
        )}
      </For>
    </div>
  );
}
