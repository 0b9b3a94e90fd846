// A list whose newest page is fetched now and then, and whose older pages come on request.
import { createMemo, createSignal } from 'solid-js';
import { toastProblem } from '../../design/Toast';

export interface Page<T> {
  items: readonly T[];
  next?: string | number;
}

/**
 * The newest page with what is older below it, each once. What slid off the end of the newest page since it was
 * shown is still there; if the newest page is the only one, there is nothing older. Pure.
 */
export function joinPages<T>(newest: Page<T>, shown: readonly T[], number: (row: T) => number): readonly T[] {
  if (newest.next === undefined) return newest.items;
  const least = newest.items.reduce((low, row) => Math.min(low, number(row)), Infinity);
  const older = new Map<number, T>();
  for (const row of shown) if (number(row) < least) older.set(number(row), row);
  return [...newest.items, ...[...older].sort(([a], [b]) => b - a).map(([, row]) => row)];
}

export interface Pages<T> {
  rows: () => readonly T[];
  next: () => Page<T>['next'];
  /** Whether older pages are shown. */
  open: () => boolean;
  busy: () => boolean;
  more: () => Promise<void>;
  /** Only the newest page again. */
  reset: () => void;
}

export function pages<T>(options: {
  newest: () => Page<T> | undefined;
  ask: (next: Page<T>['next']) => Promise<Page<T>>;
  number: (row: T) => number;
  failed: string;
}): Pages<T> {
  const [tail, setTail] = createSignal<Page<T> | null>(null);
  const [busy, setBusy] = createSignal(false);
  // Answers to what was asked before it are of another list.
  let round = 0;
  const rows = createMemo<readonly T[]>((before) => {
    const now = options.newest();
    const older = tail();
    if (now === undefined) return [];
    return older === null ? now.items : joinPages(now, [...before, ...older.items], options.number);
  }, []);
  const next = () => {
    const now = options.newest();
    return now?.next === undefined ? undefined : (tail() ?? now).next;
  };
  const more = async () => {
    const mine = round;
    setBusy(true);
    try {
      const page = await options.ask(next());
      if (mine === round) setTail(page);
    } catch (error) {
      if (mine === round) toastProblem(error, options.failed);
    }
    if (mine === round) setBusy(false);
  };
  const reset = () => {
    round += 1;
    setTail(null);
    setBusy(false);
  };
  return { rows, next, open: () => tail() !== null, busy, more, reset };
}
