import { For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { Dialog } from './Dialog';
import './key_help.css';

export interface KeyHint {
  keys: string;
  does: string;
  place: string;
}

/** Opened by `?`: all keys that work now, by place. */
export function KeyHelp(props: { hints: readonly KeyHint[]; onClose: () => void }): JSX.Element {
  const places = () => [...new Set(props.hints.map((hint) => hint.place))];
  return (
    <Dialog title="Keys" onClose={props.onClose}>
      <For each={places()}>
        {(place) => (
          <section class="stack">
            <h3>{place}</h3>
            <dl class="key-help">
              <For each={props.hints.filter((hint) => hint.place === place)}>
                {(hint) => (
                  <>
                    <dt><For each={hint.keys.split(' ')}>{(key, at) => <><Show when={at() > 0}> </Show><kbd>{key}</kbd></>}</For></dt>
                    <dd>{hint.does}</dd>
                  </>
                )}
              </For>
            </dl>
          </section>
        )}
      </For>
    </Dialog>
  );
}
