// How old a value is against how old it may be: the ring fills while it ages, is full at its bound,
// and says so when it is past. It keeps growing when the connection is lost.
import type { JSX } from 'solid-js';
import { tick } from '../logic/clock';
import { duration, shortDuration } from '../logic/format';
import type { Tone } from './StateMark';
import './small.css';

export function ageTone(age: number | null, expected: number | null, bound: number | null): Tone {
  if (age === null) return 'mute';
  if (bound !== null && age > bound) return 'stale';
  if (expected !== null && age > expected * 1.5 + 1) return 'warn';
  return 'ok';
}

/** <AgeRing at={target.lastSuccess} expected={target.interval} bound={target.bound} /> */
export function AgeRing(props: {
  /** When the value was taken, ms; null: never. */
  at: number | null;
  /** Seconds until the next value is expected. */
  expected: number | null;
  /** Seconds after which it is stale. */
  bound: number | null;
  short?: boolean;
}): JSX.Element {
  const age = () => (props.at === null ? null : Math.max(0, (tick() - props.at) / 1000));
  const share = () => {
    const whole = props.bound ?? props.expected;
    const now = age();
    return now === null || whole === null || whole <= 0 ? 0 : Math.min(1, now / whole);
  };
  const tone = () => ageTone(age(), props.expected, props.bound);
  const words = () => {
    const now = age();
    if (now === null) return 'no value yet';
    const bound = props.bound === null ? '' : `; stale after ${duration(props.bound)}`;
    const next = props.expected === null ? '' : `, expected every ${duration(props.expected)}`;
    return `${duration(Math.round(now))} old${next}${bound}`;
  };
  const turn = 2 * Math.PI * 6;
  return (
    <span class={`age-ring ages tone-${tone()}`} title={words()}>
      <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
        <circle class="track" cx="8" cy="8" r="6" />
        <circle class="hand" cx="8" cy="8" r="6" stroke-dasharray={`${(share() * turn).toFixed(1)} ${turn.toFixed(1)}`} />
      </svg>
      <span class="word" classList={{ 'seen-by-readers': props.short === true }}>
        {age() === null ? 'never' : shortDuration(Math.round(age() ?? 0))}
      </span>
    </span>
  );
}
