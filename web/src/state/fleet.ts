// All targets, live: the snapshot of GET /api/fleet kept up by events, and what they do not tell by
// what changed since. One for the page.
//
//   fleet.targets()   the array, new when targets came or went
//   fleet.order()     changes (at most once a second) when anything moved: sort and filter on it
//   fleet.states()    changes (as seldom) when states did
//   fleet.counts()    by state
//   target.track()    inside a component: this one target
import { batch, createSignal } from 'solid-js';
import { api, asProblem, isAbort } from '../api/client';
import type { Problem } from '../api/client';
import type { FleetSnapshot } from '../api/model';
import { live } from '../api/live';
import type { LiveEvent } from '../api/live';
import { learnServerTime, serverNow } from '../logic/clock';
import { FleetBook, noCounts } from './fleet_book';
import type { Counts } from './fleet_book';
import type { Target } from './target';

export { Target } from './target';
export type { Counts } from './fleet_book';

// A part that is taken without a pause; with 5000 targets a snapshot never holds up a frame.
const kPart = 500;
const kAfterEvent = 1500;
const kOrderEvery = 1000;
const kMostHeld = 20_000;

const book = new FleetBook();
const [targets, setTargets] = createSignal<readonly Target[]>([]);
const [order, setOrder] = createSignal(0);
const [states, setStates] = createSignal(0);
const [counts, setCounts] = createSignal<Counts>(noCounts());
const [loaded, setLoaded] = createSignal(false);
const [problem, setProblem] = createSignal<Problem | null>(null);
const [takenAt, setTakenAt] = createSignal<number | null>(null);

let held: LiveEvent[] | null = null;
// Of the newest snapshot; null: there is none.
let version: string | null = null;
// Events were missed, and with them what a difference leaves out: everything is needed.
let lost = false;
let followers = 0;
let started = false;
let running: Promise<void> | null = null;
let again = false;
let flight: AbortController | null = null;
let soon: ReturnType<typeof setTimeout> | undefined;
let orderTimer: ReturnType<typeof setTimeout> | undefined;
// States moved since they were shown.
let stated = false;
let ager: ReturnType<typeof setInterval> | undefined;
let stops: (() => void)[] = [];

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

function reorder(ofStates: boolean): void {
  stated ||= ofStates;
  orderTimer ??= setTimeout(() => {
    orderTimer = undefined;
    batch(() => {
      setOrder((before) => before + 1);
      if (stated) showStates();
    });
  }, kOrderEvery);
}

function showStates(): void {
  stated = false;
  setCounts(book.counts());
  setStates((before) => before + 1);
}

async function load(): Promise<void> {
  // What is told while a snapshot is on its way is newer than it, and is taken after it.
  held = [];
  const mine = new AbortController();
  flight = mine;
  if (lost) version = null;
  lost = false;
  try {
    const query = version === null ? {} : { since: version, ...(followers > 0 ? { values: 'true' } : {}) };
    const snapshot = await api.get<FleetSnapshot>('api/fleet', { query, signal: mine.signal });
    if (mine.signal.aborted) return;
    learnServerTime(Date.parse(snapshot.time));
    for (let row = 0; row < snapshot.count; row += kPart) {
      batch(() => book.take(snapshot, row, Math.min(row + kPart, snapshot.count)));
      if (row + kPart < snapshot.count) await pause();
      if (mine.signal.aborted) return;
    }
    version = snapshot.version ?? null;
    if (!snapshot.partial) live.noteSnapshot(snapshot.seq);
    batch(() => {
      if (book.finish(snapshot)) setTargets(book.targets);
      showStates();
      setOrder((before) => before + 1);
      setTakenAt(Date.parse(snapshot.time));
      setProblem(null);
      setLoaded(true);
    });
  } catch (error) {
    // Ended meanwhile: who comes next must not see what was wrong for who was here before.
    if (mine.signal.aborted || isAbort(error)) return;
    setProblem(asProblem(error));
  }
  const waiting = held ?? [];
  held = null;
  if (loaded() && waiting.length > 0) take(waiting);
}

function take(events: readonly LiveEvent[]): void {
  const applied = batch(() => book.apply(events));
  if (applied.changed > 0) reorder(applied.reordered);
  if (applied.incomplete) plan(kAfterEvent);
}

/** Fetches what changed; call it after an edit of the fleet. */
function refresh(): Promise<void> {
  if (running !== null) {
    again = true;
    return running;
  }
  clearTimeout(soon);
  soon = undefined;
  running = load().finally(() => {
    running = null;
    if (!started) return;
    if (again) {
      again = false;
      void refresh();
    } else plan(regular());
  });
  return running;
}

// The server looks at every target for it; of a larger fleet less often.
function regular(): number {
  return Math.min(60_000, Math.max(5_000, book.targets.length * 4));
}

let planned = 0;

function plan(wait: number): void {
  const at = Date.now() + wait;
  if (soon !== undefined && planned <= at) return;
  clearTimeout(soon);
  planned = at;
  soon = setTimeout(() => {
    soon = undefined;
    if (!started) return;
    // Nobody looks, or nobody answers, not even to a request: the next look or the resync fetches it.
    if (document.visibilityState === 'hidden' || live.connection().state === 'offline') plan(regular());
    else void refresh();
  }, wait);
}

function start(): void {
  if (started) return;
  started = true;
  stops = [
    live.on(
      ['poll_result', 'task_state_changed', 'alert_created', 'alert_updated', 'alert_resolved'],
      (events) => {
        if (held !== null) {
          if (held.length < kMostHeld) held.push(...events);
          else lost = again = true;
        } else if (loaded()) take(events);
      },
    ),
    live.onResync(() => {
      lost = true;
      void refresh();
    }),
  ];
  ager = setInterval(() => {
    if (batch(() => book.age(serverNow()))) reorder(true);
  }, 2000);
  void refresh();
}

function stop(): void {
  started = false;
  flight?.abort();
  again = false;
  held = null;
  stops.forEach((one) => one());
  clearInterval(ager);
  clearTimeout(soon);
  clearTimeout(orderTimer);
  soon = orderTimer = undefined;
  book.byKey.clear();
  book.targets = [];
  book.seq = 0;
  version = null;
  batch(() => {
    setTargets([]);
    setLoaded(false);
    setProblem(null);
    setCounts(noCounts());
  });
}

export const fleet = {
  start,
  stop,
  refresh,
  targets,
  order,
  states,
  counts,
  loaded,
  problem,
  /** Server time of the newest snapshot, ms. */
  takenAt,
  /** The values of all targets are looked at, as when they are sorted by them. Returns how to stop. */
  followValues: (): (() => void) => {
    followers += 1;
    lost = true;
    void refresh();
    return () => {
      followers -= 1;
    };
  },
  /** Brings what is shown of these targets, which are some tens at most, up to date. */
  fetchValues: async (keys: readonly string[]): Promise<void> => {
    const snapshot = await api.get<FleetSnapshot>('api/fleet', { query: { target: keys } });
    batch(() => book.takeValues(snapshot));
  },
  find: (key: string): Target | undefined => {
    targets();
    return book.byKey.get(key);
  },
};
