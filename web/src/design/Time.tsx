import { Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { localTime, parseTime, tick, timeTitle } from '../logic/clock';
import { shortDuration } from '../logic/format';

type When = number | string | null | undefined;

const asNumber = (value: When) => (typeof value === 'number' ? value : parseTime(value));

/** "5 min ago", "in 12 s", "now". Pure, for its test. */
export function relative(milliseconds: number, now: number): string {
  const seconds = Math.round((milliseconds - now) / 1000);
  if (Math.abs(seconds) < 1) return 'now';
  return seconds > 0 ? `in ${shortDuration(seconds)}` : `${shortDuration(-seconds)} ago`;
}

/** <Time at={alert.first_seen} /> local time, UTC in the title; `relative` tells it against now and keeps moving. */
export function Time(props: { at: When; relative?: boolean; none?: string }): JSX.Element {
  const at = () => asNumber(props.at);
  return (
    <Show when={at() !== null} fallback={<span class="muted">{props.none ?? 'never'}</span>}>
      <time
        class={props.relative ? 'ages' : undefined}
        dateTime={new Date(at() as number).toISOString()}
        title={timeTitle(at() as number)}
      >
        {props.relative ? relative(at() as number, tick()) : localTime(at() as number, tick())}
      </time>
    </Show>
  );
}

/** <Countdown at={target.nextDue} /> "in 12 s"; "due" when the time has come. */
export function Countdown(props: { at: When; due?: string }): JSX.Element {
  const at = () => asNumber(props.at);
  return (
    <Show when={at() !== null} fallback={<span class="muted">–</span>}>
      <span class="ages" title={timeTitle(at() as number)}>
        {(at() as number) <= tick() + 500 ? (props.due ?? 'due') : shortDuration(Math.round(((at() as number) - tick()) / 1000))}
      </span>
    </Show>
  );
}
