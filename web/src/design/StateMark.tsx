// A state as shape, word and colour together: any one of them is enough to tell it.
import { Show } from 'solid-js';
import type { JSX } from 'solid-js';
import './state_mark.css';

export type Tone = 'ok' | 'warn' | 'bad' | 'stale' | 'info' | 'mute';
type Shape = 'disc' | 'half' | 'cross' | 'clock' | 'question' | 'broken' | 'pause' | 'triangle' | 'diamond' | 'ring' | 'play' | 'dot';

const kShapes: Record<Shape, JSX.Element | (() => JSX.Element)> = {
  disc: () => <circle cx="6" cy="6" r="4.5" fill="currentColor" />,
  half: () => (<><circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" stroke-width="1.6" /><path d="M6 2a4 4 0 0 1 0 8z" fill="currentColor" /></>),
  cross: () => (<><rect x="1" y="1" width="10" height="10" rx="2.2" fill="currentColor" /><path d="M4 4l4 4M8 4l-4 4" stroke="var(--surface)" stroke-width="1.6" stroke-linecap="round" /></>),
  clock: () => (<><circle cx="6" cy="6" r="4.6" fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="2.4 1.2" /><path d="M6 3.6V6l1.6 1" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" /></>),
  question: () => (<><circle cx="6" cy="6" r="4.6" fill="none" stroke="currentColor" stroke-width="1.4" /><path d="M4.8 4.9a1.25 1.25 0 1 1 1.8 1.1c-.4.2-.6.5-.6.9M6 8.5v.1" fill="none" stroke="currentColor" stroke-width="1.3" stroke-linecap="round" /></>),
  broken: () => (<path d="M1 6h3M8 6h3M4.6 3.2l.9 1.4M7.4 8.8l-.9-1.4M4 6a1.2 1.2 0 0 1 0 .1M5 9l2-6" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />),
  pause: () => (<path d="M4 2.5v7M8 2.5v7" stroke="currentColor" stroke-width="2" stroke-linecap="round" />),
  triangle: () => <path d="M6 1.2 11.2 10.4H.8z" fill="currentColor" />,
  diamond: () => <path d="M6 .8 11.2 6 6 11.2.8 6z" fill="currentColor" />,
  ring: () => <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" stroke-width="1.8" />,
  play: () => <path d="M3 1.8 10.4 6 3 10.2z" fill="currentColor" />,
  dot: () => <circle cx="6" cy="6" r="2.6" fill="currentColor" />,
};

/** Every state the API knows: of targets, alerts, incidents, jobs, breakers, tasks. */
const kStates: Record<string, [Shape, Tone, string]> = {
  up: ['disc', 'ok', 'up'],
  ok: ['disc', 'ok', 'ok'],
  degraded: ['half', 'warn', 'degraded'],
  down: ['cross', 'bad', 'down'],
  stale: ['clock', 'stale', 'stale'],
  unknown: ['question', 'mute', 'unknown'],
  unreachable: ['broken', 'stale', 'unreachable'],
  disabled: ['pause', 'mute', 'disabled'],
  critical: ['cross', 'bad', 'critical'],
  major: ['triangle', 'bad', 'major'],
  minor: ['triangle', 'warn', 'minor'],
  warning: ['diamond', 'warn', 'warning'],
  info: ['dot', 'info', 'info'],
  open: ['cross', 'bad', 'open'],
  half_open: ['half', 'warn', 'half open'],
  closed: ['disc', 'ok', 'closed'],
  active: ['cross', 'bad', 'active'],
  acknowledged: ['half', 'info', 'acknowledged'],
  suppressed: ['broken', 'mute', 'suppressed'],
  silenced: ['pause', 'mute', 'silenced'],
  resolved: ['disc', 'ok', 'resolved'],
  pending: ['ring', 'mute', 'pending'],
  blocked: ['pause', 'warn', 'blocked'],
  ready: ['ring', 'info', 'ready'],
  running: ['play', 'info', 'running'],
  completed: ['disc', 'ok', 'completed'],
  failed: ['cross', 'bad', 'failed'],
  cancelled: ['pause', 'mute', 'cancelled'],
  transient: ['triangle', 'warn', 'failed'],
  permanent: ['cross', 'bad', 'failed for good'],
  interrupted: ['pause', 'mute', 'interrupted'],
  delivered: ['disc', 'ok', 'delivered'],
};

export function toneOf(state: string): Tone {
  return kStates[state]?.[1] ?? 'mute';
}

export function wordOf(state: string): string {
  return kStates[state]?.[2] ?? state.replaceAll('_', ' ');
}

function Mark(props: { state: string; size: number }): JSX.Element {
  // Drawn inside the function: of `shape()()` in the markup only the second call would be repeated.
  const drawn = () => (kShapes[kStates[props.state]?.[0] ?? 'ring'] as () => JSX.Element)();
  return (
    <svg width={props.size} height={props.size} viewBox="0 0 12 12" aria-hidden="true">
      {drawn()}
    </svg>
  );
}

/** <StateMark state="down" /> ; `short` leaves the word to the title where there is no room. */
export function StateMark(props: { state: string; short?: boolean; size?: number; word?: string }): JSX.Element {
  const word = () => props.word ?? wordOf(props.state);
  return (
    <span class={`state-mark tone-${toneOf(props.state)}`} title={props.short ? word() : undefined}>
      <Mark state={props.state} size={props.size ?? 12} />
      <span classList={{ 'seen-by-readers': props.short === true }}>{word()}</span>
    </span>
  );
}

/** <Badge tone="warn">file</Badge> or <Badge state="critical" /> */
export function Badge(props: { tone?: Tone; state?: string; title?: string; children?: JSX.Element }): JSX.Element {
  const tone = () => props.tone ?? (props.state === undefined ? 'mute' : toneOf(props.state));
  return (
    <span class={`badge tone-${tone()}`} title={props.title}>
      <Show when={props.state}>{(state) => <Mark state={state()} size={10} />}</Show>
      <span class="cut">{props.children ?? wordOf(props.state ?? '')}</span>
    </span>
  );
}
