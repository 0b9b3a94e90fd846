// The state of a target over time as a strip, with the share of the time it answered. What is worse stands
// higher, and each state has a pattern of its own. The pointer, a finger or the arrow keys read a stretch.
import { createMemo, createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import type { TargetState } from '../api/model';
import { StateMark, Time, toneOf, wordOf } from '../design';
import { bothTimes, tick } from '../logic/clock';
import { duration, percent, plural } from '../logic/format';
import type { Change } from './model';
import { lengthsOf, stretchAt, stretchByKey, stripFacts, thinned } from './state_strip';
import type { Stretch } from './state_strip';
import './parts.css';

export const kSpans = [
  { id: '24h', label: '24 h', seconds: 86_400 },
  { id: '7d', label: '7 d', seconds: 604_800 },
  { id: '90d', label: '90 d', seconds: 7_776_000 },
] as const;

// Narrower than this share of the strip a stretch cannot be seen.
const kLeast = 0.004;

function words(one: Stretch): string {
  return `${wordOf(one.state)} for ${duration(Math.round((one.to - one.from) / 1000))}, from ${bothTimes(one.from, 0)} to ${bothTimes(one.to, 0)}`;
}

/** <StateStrip changes={changes()} seconds={86400} label="core-1, last 24 hours" /> */
export function StateStrip(props: { changes: readonly Change[]; seconds: number; label: string; compact?: boolean; now?: TargetState }): JSX.Element {
  // To the minute: the strip is not drawn anew each second.
  const minute = createMemo(() => Math.floor(tick() / 60_000) * 60_000 + 60_000);
  const facts = createMemo(() => stripFacts(props.changes, minute() - props.seconds * 1000, minute(), props.now));
  const shown = createMemo(() => thinned(facts().stretches, props.seconds * 1000 * kLeast));
  // A time and not a stretch: it stays when there are other stretches.
  const [time, setTime] = createSignal<number | null>(null);
  const [said, setSaid] = createSignal('');
  const at = createMemo(() => stretchAt(shown(), time()));
  let bar!: HTMLDivElement;
  const summary = () => {
    const now = facts();
    const up = now.uptime === null ? 'nothing is known' : `answered ${percent(now.uptime, 2)} of the time that is known`;
    return `${props.label}: ${up}, ${plural(now.outages, 'outage')}, down for ${duration(Math.round(now.down))}`;
  };
  const point = (event: PointerEvent) => {
    const box = bar.getBoundingClientRect();
    const share = Math.max(0, Math.min(0.9999, (event.clientX - box.left) / Math.max(1, box.width)));
    setTime(minute() - props.seconds * 1000 * (1 - share));
  };
  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape' ? time() === null : shown().length === 0) return;
    const next = event.key === 'Escape' ? null : stretchByKey(shown(), at(), event.key);
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    setTime(next === null ? null : (next.from + next.to) / 2);
    setSaid(next === null ? summary() : words(next));
  };
  return (
    <div class="strip" classList={{ compact: props.compact === true }}>
      <div
        ref={bar}
        class="strip-bar"
        role="application"
        aria-roledescription="strip of states"
        aria-label={`${summary()}. Arrow keys read each stretch.`}
        tabindex={0}
        onKeyDown={keys}
        onBlur={() => setTime(null)}
        onPointerDown={point}
        onPointerMove={point}
        onPointerLeave={(event) => event.pointerType === 'mouse' && setTime(null)}
      >
        <For each={shown()}>
          {(one) => (
            <span
              class={`strip-part tone-${toneOf(one.state)} state-${one.state}`}
              classList={{ read: at() === one }}
              style={{ 'flex-grow': one.to - one.from }}
              title={words(one)}
            />
          )}
        </For>
      </div>
      <span class="seen-by-readers" aria-live="polite">{said()}</span>
      <Show when={!props.compact || at()}>
        <div class="strip-foot small muted">
          <Show
            when={at()}
            fallback={
              <>
                <span><Time at={minute() - props.seconds * 1000} /></span>
                <span class="spring" />
                <span><strong class="strip-up">{facts().uptime === null ? 'not known' : percent(facts().uptime, 2)}</strong> up</span>
                <span>{plural(facts().outages, 'outage')}{facts().outages > 0 ? `, down for ${duration(Math.round(facts().down))}` : ''}</span>
                <span class="spring" />
                <span>now</span>
              </>
            }
          >
            {(one) => (<><StateMark state={one().state} short /><span>{words(one())}</span></>)}
          </Show>
        </div>
      </Show>
      <Show when={!props.compact}><StripLegend lengths={lengthsOf(facts().stretches)} /></Show>
    </div>
  );
}

/** What the strips mean, in words; with the time of each state where it is about one strip. */
export function StripLegend(props: { lengths: ReadonlyMap<TargetState, number | null> }): JSX.Element {
  return (
    <ul class="strip-legend small muted" aria-label="States in the strip">
      <For each={[...props.lengths]}>
        {([state, seconds]) => (
          <li><span class={`strip-part tone-${toneOf(state)} state-${state}`} aria-hidden="true" />{wordOf(state)}{seconds === null ? '' : ` ${duration(Math.round(seconds))}`}</li>
        )}
      </For>
    </ul>
  );
}

/** Choice of a span as a row of buttons. */
export function SpanChoice(props: { spans: readonly { id: string; label: string }[]; value: string; onChange: (id: string) => void; label: string }): JSX.Element {
  return (
    <div class="choice" role="group" aria-label={props.label}>
      <For each={props.spans}>
        {(one) => (
          <button type="button" aria-pressed={one.id === props.value} onClick={() => props.onChange(one.id)}>{one.label}</button>
        )}
      </For>
    </div>
  );
}
