// What polls cost, of the last half to whole hour. Pure, for its test.

export interface CostRow {
  key: string;
  device: string;
  runs: number;
  /** Seconds under way. */
  busy: number;
  mean: number;
  /** Of the time of all targets that are seen, 0 to 1. */
  share: number;
  failures: number;
  requests: number;
  bytes: number;
}

export interface Costs {
  since?: string;
  total_busy: number;
  items: CostRow[];
}

export type CostSum = Omit<CostRow, 'key' | 'device'>;

/** All rows together; null if nothing ran. */
export function sumOf(rows: readonly CostRow[]): CostSum | null {
  const sum = { runs: 0, busy: 0, mean: 0, share: 0, failures: 0, requests: 0, bytes: 0 };
  for (const row of rows) {
    sum.runs += row.runs;
    sum.busy += row.busy;
    sum.share += row.share;
    sum.failures += row.failures;
    sum.requests += row.requests;
    sum.bytes += row.bytes;
  }
  if (sum.runs === 0) return null;
  return { ...sum, mean: sum.busy / sum.runs };
}
