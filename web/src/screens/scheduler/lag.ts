// The lag of starts as counts in buckets: quantiles, words, and how dark a cell of the heat map is. Pure.
import { shortDuration } from '../../logic/format';

/** Counts of several steps together. */
export function mergedCounts(rows: readonly (readonly number[])[]): number[] {
  const sum: number[] = [];
  for (const row of rows) row.forEach((value, place) => (sum[place] = (sum[place] ?? 0) + value));
  return sum;
}

/** In seconds, as if each bucket were filled evenly; null if nothing started. The last bucket has no end: its beginning. */
export function lagQuantile(bounds: readonly number[], counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, value) => sum + value, 0);
  if (total === 0) return null;
  const wanted = share * total;
  let before = 0;
  for (let place = 0; place < counts.length; place += 1) {
    const here = counts[place] ?? 0;
    if (here > 0 && before + here >= wanted) {
      const low = place === 0 ? 0 : (bounds[place - 1] ?? 0);
      const high = bounds[place];
      return high === undefined ? low : low + ((high - low) * (wanted - before)) / here;
    }
    before += here;
  }
  return bounds[bounds.length - 1] ?? null;
}

/** "up to 10 ms", "10 ms to 100 ms", "more than 30 s". */
export function bucketWords(bounds: readonly number[], place: number): string {
  const low = bounds[place - 1];
  const high = bounds[place];
  if (low === undefined) return `up to ${shortDuration(high)}`;
  if (high === undefined) return `more than ${shortDuration(low)}`;
  return `${shortDuration(low)} to ${shortDuration(high)}`;
}

/** Short: the upper bound, for an axis. */
export function bucketLabel(bounds: readonly number[], place: number): string {
  const high = bounds[place];
  return high === undefined ? `> ${shortDuration(bounds[place - 1])}` : `≤ ${shortDuration(high)}`;
}

/** Buckets that hold starts later than this many seconds. */
export function isLate(bounds: readonly number[], place: number, late: number): boolean {
  return place > 0 && (bounds[place - 1] ?? 0) >= late;
}

/** 0 to 1 by the logarithm, so that one late start among thousands is still seen. */
export function shade(value: number, most: number): number {
  if (value <= 0 || most <= 0) return 0;
  return Math.min(1, 0.18 + (0.82 * Math.log1p(value)) / Math.log1p(most));
}

/** How many start late, of all. */
export function lateShare(bounds: readonly number[], counts: readonly number[], late: number): number | null {
  const total = counts.reduce((sum, value) => sum + value, 0);
  if (total === 0) return null;
  return counts.reduce((sum, value, place) => sum + (isLate(bounds, place, late) ? value : 0), 0) / total;
}
