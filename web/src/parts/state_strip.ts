// What a target was over a span of time, from its transitions. Pure, for its test.
import type { TargetState } from '../api/model';
import type { Change } from './model';

export interface Stretch {
  state: TargetState;
  /** ms */
  from: number;
  to: number;
  /** What ended the stretch before it. */
  message: string;
}

export interface StripFacts {
  stretches: Stretch[];
  /** Share of the time that is known in which it answered; null if nothing is known. */
  uptime: number | null;
  down: number;
  outages: number;
}

const kHealth = new Set<string>(['up', 'down', 'degraded', 'unknown']);

interface Memory {
  health: TargetState;
  enabled: boolean;
}

const shown = (memory: Memory): TargetState => (memory.enabled ? memory.health : 'disabled');

/**
 * Transitions in any order; what was before the first one that is known is not known. If none is
 * known at all, `now` held since before anything was recorded.
 */
export function stretchesOf(changes: readonly Change[], from: number, to: number, now: TargetState = 'unknown'): Stretch[] {
  const sorted = changes.filter((one) => one.kind === 'health' || one.kind === 'enabled').sort((a, b) => a.number - b.number);
  const memory: Memory = { health: sorted.length === 0 ? now : 'unknown', enabled: true };
  const found: Stretch[] = [];
  let begin = from;
  let message = '';
  const close = (at: number) => {
    if (at > begin) {
      const last = found[found.length - 1];
      if (last !== undefined && last.state === shown(memory)) last.to = at;
      else found.push({ state: shown(memory), from: begin, to: at, message });
      begin = at;
    }
  };
  for (const change of sorted) {
    const at = Date.parse(change.at);
    if (Number.isNaN(at) || at > to) continue;
    if (at > from) close(at);
    if (change.kind === 'enabled') {
      memory.enabled = change.to !== 'disabled';
      if (!memory.enabled) memory.health = 'unknown';
    } else memory.health = health(change.to);
    message = change.message;
  }
  close(to);
  return found;
}

function health(word: string | undefined): TargetState {
  return word !== undefined && kHealth.has(word) ? (word as TargetState) : 'unknown';
}

export function stripFacts(changes: readonly Change[], from: number, to: number, now: TargetState = 'unknown'): StripFacts {
  const stretches = stretchesOf(changes, from, to, now);
  let good = 0;
  let down = 0;
  let outages = 0;
  for (const one of stretches) {
    const length = one.to - one.from;
    if (one.state === 'up' || one.state === 'degraded') good += length;
    if (one.state === 'down') {
      down += length;
      outages += 1;
    }
  }
  return { stretches, uptime: good + down > 0 ? good / (good + down) : null, down: down / 1000, outages };
}

/** The stretch of a time; null where there is none. */
export function stretchAt(stretches: readonly Stretch[], time: number | null): Stretch | null {
  if (time === null) return null;
  return stretches.find((one) => time >= one.from && time < one.to) ?? null;
}

/** The stretch that a key goes to, the newest one first; undefined for a key that is none of the strip. */
export function stretchByKey(stretches: readonly Stretch[], now: Stretch | null, key: string): Stretch | undefined {
  const last = stretches.length - 1;
  const at = now === null ? last + 1 : stretches.indexOf(now);
  const places: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
  const place = places[key];
  return place === undefined ? undefined : stretches[Math.max(0, Math.min(last, place))];
}

/** Seconds in each state that there was, the worst first. */
export function lengthsOf(stretches: readonly Stretch[]): Map<TargetState, number> {
  const sums = new Map<TargetState, number>();
  for (const state of kWorst) {
    const sum = stretches.reduce((all, one) => all + (one.state === state ? one.to - one.from : 0), 0);
    if (sum > 0) sums.set(state, sum / 1000);
  }
  return sums;
}

/** Many stretches for few pixels: joined so that each is at least `least` of the span, the worst counts. */
export function thinned(stretches: readonly Stretch[], least: number): Stretch[] {
  const found: Stretch[] = [];
  for (const one of stretches) {
    const last = found[found.length - 1];
    if (last !== undefined && (one.to - one.from < least || last.to - last.from < least) && last.to - last.from < least * 2) {
      const worse = rank(one.state) < rank(last.state) ? one : last;
      found[found.length - 1] = { state: worse.state, message: worse.message, from: last.from, to: one.to };
    } else if (last !== undefined && last.state === one.state) last.to = one.to;
    else found.push({ ...one });
  }
  return found;
}

export const kWorst: readonly TargetState[] = ['down', 'unreachable', 'degraded', 'stale', 'up', 'unknown', 'disabled'];
const rank = (state: TargetState) => kWorst.indexOf(state);
