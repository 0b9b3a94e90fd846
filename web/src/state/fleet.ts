// All targets, live: the snapshot of GET /api/fleet kept up by events. One for the page.
//
//   fleet.targets()   the array, new when targets came or went
//   fleet.order()     changes (at most once a second) when states moved: sort and filter on it
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
const [counts, setCounts] = createSignal<Counts>(noCounts());
const [loaded, setLoaded] = createSignal(false);
const [problem, setProblem] = createSignal<Problem | null>(null);
const [takenAt, setTakenAt] = createSignal<number | null>(null);

let held: LiveEvent[] | null = null;
let started = false;
let running: Promise<void> | null = null;
let again = false;
let flight: AbortController | null = null;
let soon: ReturnType<typeof setTimeout> | undefined;
let orderTimer: ReturnType<typeof setTimeout> | undefined;
let ager: ReturnType<typeof setInterval> | undefined;
let stops: (() => void)[] = [];

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

function reorder(): void {
  orderTimer ??= setTimeout(() => {
    orderTimer = undefined;
    batch(() => {
      setCounts(book.counts());
      setOrder((before) => before + 1);
    });
  }, kOrderEvery);
}

async function load(): Promise<void> {
  // What is told while a snapshot is on its way is newer than it, and is taken after it.
  held = [];
  const mine = new AbortController();
  flight = mine;
  try {
    const snapshot = await api.get<FleetSnapshot>('api/fleet', { signal: mine.signal });
    if (mine.signal.aborted) return;
    learnServerTime(Date.parse(snapshot.time));
    for (let row = 0; row < snapshot.count; row += kPart) {
      batch(() => book.take(snapshot, row, Math.min(row + kPart, snapshot.count)));
      if (row + kPart < snapshot.count) await pause();
      if (mine.signal.aborted) return;
    }
    live.noteSnapshot(snapshot.seq);
    batch(() => {
      if (book.finish(snapshot)) setTargets(book.targets);
      setCounts(book.counts());
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
  if (applied.changed > 0) reorder();
  if (applied.incomplete) plan(kAfterEvent);
}

/** Fetches the snapshot anew; call it after an edit of the fleet. */
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

// Values come with snapshots only; a larger fleet is fetched less often.
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
          else again = true;
        } else if (loaded()) take(events);
      },
    ),
    live.onResync(() => void refresh()),
  ];
  ager = setInterval(() => {
    if (batch(() => book.age(serverNow()))) reorder();
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
  counts,
  loaded,
  problem,
  /** Server time of the newest snapshot, ms. */
  takenAt,
  find: (key: string): Target | undefined => {
    targets();
    return book.byKey.get(key);
  },
};
