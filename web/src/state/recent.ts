// The last polls of targets that are on the screen, for their sparklines. They are asked for one by one
// and only while they are looked at, within a budget: whoever scrolls through thousands of rows must
// not use up what the server allows a user.
import { api, path } from '../api/client';
import type { Target } from './target';

interface Run {
  task: string;
  duration: number;
}

const kAtOnce = 2;
const kPerMinute = 90;

export class RecentRuns {
  readonly #ask: (key: string) => Promise<readonly Run[]>;
  readonly #now: () => number;
  readonly #asked = new WeakSet<Target>();
  #waiting: Target[] = [];
  #starts: number[] = [];
  #running = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ask: (key: string) => Promise<readonly Run[]>, now: () => number = () => Date.now()) {
    this.#ask = ask;
    this.#now = now;
  }

  /** Shown now; returns what to call when it is not any more. */
  want(target: Target): () => void {
    if (this.#asked.has(target) || target.durations.length > 1) return () => {};
    this.#waiting.push(target);
    queueMicrotask(() => this.#go());
    return () => {
      this.#waiting = this.#waiting.filter((one) => one !== target);
    };
  }

  #go(): void {
    const now = this.#now();
    this.#starts = this.#starts.filter((at) => now - at < 60_000);
    while (this.#running < kAtOnce && this.#starts.length < kPerMinute && this.#waiting.length > 0) {
      void this.#one(this.#waiting.pop() as Target); // what was shown last is looked at
    }
    if (this.#waiting.length > 0 && this.#running === 0 && this.#timer === undefined) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#go();
      }, 2000);
    }
  }

  async #one(target: Target): Promise<void> {
    this.#asked.add(target);
    this.#starts.push(this.#now());
    this.#running += 1;
    try {
      const runs = await this.#ask(target.key);
      const main = runs.filter((run) => !run.task.includes('#')).map((run) => run.duration);
      target.recall(main.reverse());
    } catch {
      // No sparkline yet; it grows with the polls that are seen.
    } finally {
      this.#running -= 1;
      this.#go();
    }
  }
}

export const recentRuns = new RecentRuns(async (key) => (await api.get<{ items: Run[] }>(path`api/targets/${key}/runs`, { query: { limit: 40 } })).items);
