// Something that a screen shows and that keeps itself up to date: fetched when its key is another,
// again after live events that concern it, and now and then. What was shown stays until the new is
// there; nothing is fetched while nobody looks.
import { createEffect, createMemo, createSignal, on, onCleanup } from 'solid-js';
import { asProblem, isAbort } from '../api/client';
import type { Problem } from '../api/client';
import { live } from '../api/live';
import type { EventType, LiveEvent } from '../api/live';

export interface Fetched<T> {
  data: () => T | undefined;
  problem: () => Problem | null;
  busy: () => boolean;
  refetch: () => void;
}

export interface FetchOptions {
  events?: readonly EventType[];
  /** Whether an event concerns what is shown; all of the types unless given. */
  concerns?: (event: LiveEvent) => boolean;
  /** Also every so many seconds. */
  every?: number;
  /** Not more often than this, ms. */
  soonest?: number;
  /** So long after an event, ms: several of them are one question. */
  settle?: number;
}

export function fetched<Key, T>(
  wanted: () => Key | null | undefined,
  load: (key: Key, signal: AbortSignal) => Promise<T>,
  options: FetchOptions = {},
): Fetched<T> {
  // A key that is computed anew and is the same is no other key.
  const key = createMemo(wanted);
  const [data, setData] = createSignal<T | undefined>(undefined, { equals: false });
  const [problem, setProblem] = createSignal<Problem | null>(null);
  const [busy, setBusy] = createSignal(false);
  const soonest = options.soonest ?? 1000;
  let running: AbortController | null = null;
  let again = false;
  let begun = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const run = (now: Key): void => {
    running?.abort();
    const mine = new AbortController();
    running = mine;
    again = false;
    begun = Date.now();
    setBusy(true);
    load(now, mine.signal)
      .then((value) => {
        if (running !== mine) return;
        setData(() => value);
        setProblem(null);
      })
      .catch((error: unknown) => {
        if (running === mine && !isAbort(error)) setProblem(asProblem(error));
      })
      .finally(() => {
        if (running !== mine) return;
        running = null;
        setBusy(false);
        if (again) later();
      });
  };
  const later = (wait = 0): void => {
    if (timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      const now = key();
      if (now === null || now === undefined) return;
      if (document.visibilityState === 'hidden') missed = true;
      else if (running !== null) again = true;
      else run(now);
    }, Math.max(wait, begun + soonest - Date.now()));
  };
  let missed = false;
  const seen = (): void => {
    if (missed && document.visibilityState === 'visible') {
      missed = false;
      later();
    }
  };
  // What failed for want of a connection is asked again as soon as there is one.
  const connected = createMemo(() => live.connection().state === 'live' || live.connection().state === 'asking');
  createEffect(on(connected, (now) => now && problem()?.offline && later(), { defer: true }));

  createEffect(
    on(key, (now) => {
      clearTimeout(timer);
      timer = undefined;
      setData(undefined);
      setProblem(null);
      if (now === null || now === undefined) {
        running?.abort();
        running = null;
        setBusy(false);
      } else run(now);
    }),
  );
  if (options.events) {
    onCleanup(
      live.on(options.events, (events) => {
        if (options.concerns === undefined || events.some(options.concerns)) later(options.settle);
      }),
    );
  }
  const stopResync = live.onResync(() => later(options.settle));
  const ticker = options.every === undefined ? undefined : setInterval(() => later(), options.every * 1000);
  document.addEventListener('visibilitychange', seen);
  onCleanup(() => {
    stopResync();
    clearInterval(ticker);
    clearTimeout(timer);
    running?.abort();
    running = null;
    document.removeEventListener('visibilitychange', seen);
  });
  return { data, problem, busy, refetch: () => later() };
}
