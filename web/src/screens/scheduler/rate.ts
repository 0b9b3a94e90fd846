// Events per second out of a counter that is told now and then. Pure.

export interface Sample {
  /** Milliseconds. */
  at: number;
  total: number;
}

export class RateMeter {
  readonly #window: number;
  #samples: Sample[] = [];

  /** Over this many milliseconds. */
  constructor(window = 10_000) {
    this.#window = window;
  }

  add(at: number, total: number): void {
    const last = this.#samples[this.#samples.length - 1];
    // A counter that fell: the server was started anew. After a break, what was before it says nothing of now.
    if (last !== undefined && (total < last.total || at < last.at || at - last.at > this.#window)) this.#samples = [];
    this.#samples.push({ at, total });
    while (this.#samples.length > 2 && (this.#samples[1] as Sample).at <= at - this.#window) this.#samples.shift();
  }

  /** Null until there are two samples. */
  rate(): number | null {
    const first = this.#samples[0];
    const last = this.#samples[this.#samples.length - 1];
    if (first === undefined || last === undefined || last.at - first.at < 500) return null;
    return ((last.total - first.total) * 1000) / (last.at - first.at);
  }
}
