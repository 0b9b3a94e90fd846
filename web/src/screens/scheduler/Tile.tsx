// One number with its unit, what it means, and whether it is healthy: as a shape, a word and a colour.
import { Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { StateMark } from '../../design';
import { explainLimit, judge, stateOfVerdict, toneOfVerdict, wordOfVerdict } from './limits';
import type { Limit } from './limits';

export function Tile(props: {
  title: string;
  value: string;
  /** One line below the number. */
  note?: JSX.Element;
  limit?: Limit;
  measured?: number | null | undefined;
  href?: string | undefined;
  children?: JSX.Element;
}): JSX.Element {
  const verdict = () => (props.limit === undefined ? null : judge(props.limit, props.measured));
  return (
    <div class={`scheduler-tile tone-${toneOfVerdict(verdict() ?? 'unknown')}`} classList={{ judged: verdict() === 'warning' }}>
      <div class="scheduler-tile-title">
        <Show when={props.href} fallback={<span>{props.title}</span>}>{(to) => <a href={to()}>{props.title}</a>}</Show>
        <span class="spring" />
        <Show when={verdict()}>
          {(is) => <span title={props.limit ? explainLimit(props.limit) : undefined}><StateMark state={stateOfVerdict(is())} word={wordOfVerdict(is())} size={10} /></span>}
        </Show>
      </div>
      <div class="scheduler-tile-value ages">{props.value}</div>
      <div class="scheduler-tile-note muted small">{props.note}{props.children}</div>
    </div>
  );
}

/** A number in a table, judged: "97.2 % fair". */
export function Judged(props: { limit: Limit; measured: number | null | undefined; text: string }): JSX.Element {
  const verdict = () => judge(props.limit, props.measured);
  return (
    <span class="scheduler-judged" title={`${wordOfVerdict(verdict())}: ${explainLimit(props.limit)}`}>
      <span>{props.text}</span>
      <Show when={verdict() !== 'unknown'}><StateMark state={stateOfVerdict(verdict())} word={wordOfVerdict(verdict())} size={10} short={verdict() === 'healthy'} /></Show>
    </span>
  );
}
