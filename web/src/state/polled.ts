// Something that is fetched, and fetched again every so often while somebody looks. What was shown stays
// while it is fetched anew, and also when that fails: `problem` tells it.
//
//   const plan = polled(() => api.get<Plan>('api/scheduler/plan'), { every: 5000 });
//   <Loaded data={plan.data()} problem={plan.problem()} retry={plan.refresh}>{(data) => …}</Loaded>
import { createEffect, createMemo, createSignal, on, onCleanup } from 'solid-js';
import { asProblem, isAbort } from '../api/client';
import type { Problem } from '../api/client';
import { live } from '../api/live';

export interface Polled<T> {
  data: () => T | undefined;
  problem: () => Problem | null;
  busy: () => boolean;
  refresh: () => Promise<void>;
  /** What an act answered with is the newest there is. */
  set: (value: T) => void;
}

export interface PolledOptions {
  /** Milliseconds; nothing: only once, by `refresh`, and after events were missed. */
  every?: number | (() => number | undefined);
  /** Read in `ask`: when it changes, what is shown goes and is fetched anew. */
  key?: () => unknown;
}

export function polled<T>(ask: (signal: AbortSignal) => Promise<T>, options: PolledOptions = {}): Polled<T> {
  const [data, setData] = createSignal<T | undefined>(undefined);
  const [problem, setProblem] = createSignal<Problem | null>(null);
  const [busy, setBusy] = createSignal(false);
  let flight: AbortController | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let ended = false;
  const every = () => (typeof options.every === 'function' ? options.every() : options.every);
  // Nobody looks, or nobody answers, not even to a request: what was due then is fetched as soon as that is over.
  let missed = false;
  const away = () => document.visibilityState === 'hidden' || live.connection().state === 'offline';
  const back = () => {
    if ((missed || problem()?.offline) && !away()) void refresh();
  };
  const later = () => {
    clearTimeout(timer);
    const wait = every();
    if (ended || wait === undefined) return;
    timer = setTimeout(() => {
      if (away()) missed = true;
      else void refresh();
    }, wait);
  };
  const refresh = async () => {
    clearTimeout(timer);
    missed = false;
    flight?.abort();
    const mine = new AbortController();
    flight = mine;
    setBusy(true);
    try {
      const found = await ask(mine.signal);
      if (flight !== mine || ended) return;
      setData(() => found);
      setProblem(null);
    } catch (error) {
      if (flight !== mine || ended || isAbort(error)) return;
      setProblem(asProblem(error));
    }
    flight = null;
    setBusy(false);
    later();
  };
  createEffect(
    on(
      () => [options.key?.(), every()],
      (now, before) => {
        if (before !== undefined && now[0] !== before[0]) {
          setData(() => undefined);
          setProblem(null);
        }
        void refresh();
      },
    ),
  );
  createEffect(on(createMemo(() => live.connection().state), back, { defer: true }));
  document.addEventListener('visibilitychange', back);
  onCleanup(live.onResync(() => void refresh()));
  onCleanup(() => {
    ended = true;
    clearTimeout(timer);
    flight?.abort();
    document.removeEventListener('visibilitychange', back);
  });
  const set = (value: T) => {
    // A question from before the act would bring the old value back.
    flight?.abort();
    flight = null;
    setBusy(false);
    setData(() => value);
    setProblem(null);
    later();
  };
  return { data, problem, busy, refresh, set };
}
