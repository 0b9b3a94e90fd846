// Keeps the values of targets that are on the screen up to date: results of polls say that there are newer
// ones, and these are fetched for what is looked at, a few dozen of thousands.
import { live } from '../api/live';
import { fleet } from './fleet';
import type { Target } from './target';

// The server takes as many names in one question.
const kAtOnce = 50;
const kEvery = 4000;
// Whoever scrolls passes many rows; those where it ends are asked for.
const kSettle = 300;

export class FreshValues {
  readonly #ask: (keys: readonly string[]) => Promise<void>;
  readonly #away: () => boolean;
  readonly #shown = new Map<Target, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due = 0;

  constructor(ask: (keys: readonly string[]) => Promise<void>, away: () => boolean) {
    this.#ask = ask;
    this.#away = away;
  }

  /** Shown now; returns what to call when it is not any more. */
  want(target: Target): () => void {
    this.#shown.set(target, (this.#shown.get(target) ?? 0) + 1);
    this.#plan(target.overtaken === null ? kEvery : kSettle);
    return () => {
      const left = (this.#shown.get(target) ?? 1) - 1;
      if (left > 0) this.#shown.set(target, left);
      else this.#shown.delete(target);
    };
  }

  #plan(wait: number): void {
    const due = Date.now() + wait;
    if (this.#timer !== undefined && this.#due <= due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#go();
    }, wait);
  }

  async #go(): Promise<void> {
    if (this.#shown.size === 0) return;
    const old = [...this.#shown.keys()].filter((target) => target.overtaken !== null);
    old.sort((a, b) => (a.overtaken ?? 0) - (b.overtaken ?? 0));
    let next = kEvery;
    if (old.length > 0 && !this.#away()) {
      try {
        await this.#ask(old.slice(0, kAtOnce).map((target) => target.key));
        if (old.length > kAtOnce) next = kSettle;
      } catch {
        // They are shown with their age; whether anybody answers is told elsewhere.
      }
    }
    this.#plan(next);
  }
}

export const freshValues = new FreshValues(
  fleet.fetchValues,
  () => document.visibilityState === 'hidden' || live.connection().state === 'offline',
);
