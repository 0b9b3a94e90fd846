// Acts one after the other where the server allows only so many in a minute: it waits as the server says, and
// goes on. Pure but for the waiting, which is given.
import { asProblem } from '../../api/problem';
import type { Problem } from '../../api/problem';

export interface Progress {
  done: number;
  all: number;
  failed: { key: string; problem: Problem }[];
  /** Milliseconds of the page's clock until it goes on, while it waits. */
  waitsUntil: number | null;
}

export interface Pace {
  /** Resolves after so many milliseconds; false if it was stopped meanwhile. */
  pause: (milliseconds: number) => Promise<boolean>;
  stopped: () => boolean;
  tell: (progress: Progress) => void;
  now: () => number;
}

export async function runPaced(keys: readonly string[], act: (key: string) => Promise<unknown>, pace: Pace): Promise<Progress> {
  const progress: Progress = { done: 0, all: keys.length, failed: [], waitsUntil: null };
  const tell = () => pace.tell({ ...progress, failed: [...progress.failed] });
  for (const key of keys) {
    for (;;) {
      if (pace.stopped()) return progress;
      try {
        await act(key);
        progress.done += 1;
      } catch (error) {
        const problem = asProblem(error);
        if (problem.status === 429) {
          const wait = (problem.retryAfter ?? 10) * 1000;
          progress.waitsUntil = pace.now() + wait;
          tell();
          const on = await pace.pause(wait);
          progress.waitsUntil = null;
          if (!on) return progress;
          continue;
        }
        progress.failed.push({ key, problem });
        // Without a server every further one would fail the same way.
        if (problem.offline) {
          tell();
          return progress;
        }
      }
      break;
    }
    tell();
  }
  return progress;
}
