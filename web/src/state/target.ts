// One target as the page shows it. Fields are plain values that change in place; who shows a target
// calls `track()` and is brought up to date when it changes. A signal exists only for targets that
// somebody looks at, so that thousands of others cost nothing.
import { createSignal } from 'solid-js';
import { Redraw } from '../logic/frame';
import type { Breaker, Headline, Labels, Severity, TargetState, Tier } from '../api/model';

const kRemembered = 40;
// A row has a dozen cells, and dozens of rows may change at once: a picture of the page has time for some.
const redraw = new Redraw(8);
// The values of targets that are shown come that soon (state/values.ts); until then nothing flickers.
const kOvertakenLong = 6000;

export class Target {
  readonly key: string;
  /** Number of the last event before its row was taken. */
  seq = 0;
  device = '';
  addon = '';
  address = '';
  groups: readonly string[] = [];
  labels: Labels = {};
  region = '';
  parents: readonly string[] = [];
  state: TargetState = 'unknown';
  since: number | null = null;
  tier: Tier = 'normal';
  interval: number | null = null;
  suggested: number | null = null;
  nextDue: number | null = null;
  lastSuccess: number | null = null;
  bound: number | null = null;
  failures = 0;
  breaker: Breaker = 'closed';
  deadLetter = '';
  problem = '';
  severity: '' | Severity = '';
  alerts = 0;
  acknowledged = false;
  duration: number | null = null;
  lag: number | null = null;
  headline: readonly Headline[] = [];
  /** When the headline was taken, ms: results of polls do not bring it, see state/values.ts. */
  headlineAt: number | null = null;
  /** When a newer answer than that of the headline came, ms; null: the headline is of the newest. */
  overtaken: number | null = null;
  /** It has tasks with intervals of their own (`key#group`) beside the main one. */
  several = false;
  /** Durations of the polls that were seen while the page was open, oldest first. */
  readonly durations: number[] = [];

  #read: (() => number) | undefined;
  #draw: (() => void) | undefined;

  constructor(key: string) {
    this.key = key;
  }

  /** Call it where the target is shown. */
  track(): void {
    if (this.#read === undefined) {
      const [read, write] = createSignal(0);
      this.#read = read;
      this.#draw = () => void write((before) => before + 1);
    }
    this.#read();
  }

  changed(): void {
    if (this.#draw !== undefined) redraw.add(this.#draw);
  }

  remember(seconds: number): void {
    this.durations.push(seconds);
    if (this.durations.length > kRemembered) this.durations.shift();
  }

  /** What happened before the page was open; older than everything it saw itself. */
  recall(durations: readonly number[]): void {
    const own = this.durations.splice(0);
    this.durations.push(...[...durations.slice(0, Math.max(0, durations.length - own.length)), ...own].slice(-kRemembered));
    this.changed();
  }

  /** Seconds since the headline was taken, if it is not of the newest answer and has not been for a while; else null. */
  headlineAge(now: number): number | null {
    if (this.headlineAt === null || this.overtaken === null || now - this.overtaken < kOvertakenLong) return null;
    return Math.max(0, (now - this.headlineAt) / 1000);
  }

  /** Seconds since the last good answer; null if there was none. */
  age(now: number): number | null {
    return this.lastSuccess === null ? null : Math.max(0, (now - this.lastSuccess) / 1000);
  }
}
