// Work on the page in portions that a frame holds: what is left comes in the next.

/** Once, before the next picture of the page; soon where nobody looks at it. */
export function nextFrame(run: () => void): void {
  const visible = globalThis.document?.visibilityState === 'visible';
  if (visible && typeof requestAnimationFrame === 'function') requestAnimationFrame(run);
  else setTimeout(run, 100);
}

/** Things to draw anew, each once however often it is asked for, a few in each frame. */
export class Redraw {
  readonly #waiting = new Set<() => void>();
  readonly #most: number;
  readonly #next: (run: () => void) => void;

  constructor(most: number, next: (run: () => void) => void = nextFrame) {
    this.#most = most;
    this.#next = next;
  }

  add(draw: () => void): void {
    this.#waiting.add(draw);
    if (this.#waiting.size === 1) this.#next(() => this.#flush());
  }

  #flush(): void {
    const lot = [...this.#waiting].slice(0, this.#most);
    for (const draw of lot) {
      this.#waiting.delete(draw);
      draw();
    }
    if (this.#waiting.size > 0) this.#next(() => this.#flush());
  }
}
