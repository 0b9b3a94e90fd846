import { For } from 'solid-js';
import type { JSX } from 'solid-js';

/** Text in which backticks mark what is typed as it stands. */
export function Marked(props: { text: string }): JSX.Element {
  return <For each={props.text.split('`')}>{(part, place) => (place() % 2 === 1 ? <code>{part}</code> : part)}</For>;
}
