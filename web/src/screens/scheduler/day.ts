// The points of a day as a chart wants them. Pure.

/**
 * With the time in seconds, and with an empty point wherever steps are missing, so that a curve breaks where
 * nothing was counted instead of bridging it.
 */
export function steady<Point extends { at: string }>(points: readonly Point[], step: number): (Point & { time: number })[] {
  const out: (Point & { time: number })[] = [];
  for (const point of points) {
    const time = Date.parse(point.at) / 1000;
    const before = out[out.length - 1];
    if (before !== undefined && time - before.time > step * 1.5) out.push({ ...gapLike(point), time: before.time + step });
    out.push({ ...point, time });
  }
  return out;
}

/** A point that says nothing: no number is drawn for it. */
function gapLike<Point extends { at: string }>(point: Point): Point {
  return Object.fromEntries(Object.entries(point).map(([name, value]) => [name, typeof value === 'number' ? NaN : value])) as Point;
}

/** One curve: what is missing is a gap. */
export function curve<Point>(points: readonly Point[], pick: (point: Point) => number | undefined): (number | null)[] {
  return points.map((point) => {
    const value = pick(point);
    return value === undefined || !Number.isFinite(value) ? null : value;
  });
}

/** Where an axis of percents begins: what happens between 90 and 100 is what matters, unless more went wrong. */
export function floorOf(percents: readonly (number | null)[]): number {
  const least = Math.min(100, ...percents.filter((one) => one !== null));
  return least >= 91 ? 90 : Math.max(0, Math.floor((least - 1) / 10) * 10);
}
