// Values over time between the API and charts. Pure, for its test.

export interface HistoryPoint {
  at: string;
  count: number;
  min: number | null;
  mean: number | null;
  max: number | null;
  last: number | null;
}

export interface HistorySeries {
  metric: string;
  row: string;
  unit: string;
  /** Without `metric` in the question: the newest value. */
  at?: string;
  last?: number;
  points?: HistoryPoint[];
  from?: 'samples' | 'minutes' | 'hours';
  truncated?: boolean;
}

export interface HistoryAnswer {
  key: string;
  more: boolean;
  series: HistorySeries[];
}

export interface AddonMetric {
  name: string;
  type: string;
  unit?: string;
  help?: string;
  per_row?: boolean;
}

export const kRanges = [
  { id: '15m', label: '15 min', seconds: 900 },
  { id: '1h', label: '1 h', seconds: 3600 },
  { id: '6h', label: '6 h', seconds: 21_600 },
  { id: '24h', label: '24 h', seconds: 86_400 },
  { id: '7d', label: '7 d', seconds: 604_800 },
  { id: '30d', label: '30 d', seconds: 2_592_000 },
  { id: '90d', label: '90 d', seconds: 7_776_000 },
] as const;

/** What is shown unless somebody chooses. */
export const kUsualRange = kRanges[1];

const kSteps = [5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400];
const kMostPoints = 300;

/** Seconds between points, so that a chart has at most some hundred of them. */
export function stepFor(seconds: number): number {
  return kSteps.find((one) => one >= seconds / kMostPoints) ?? 86_400;
}

export interface Lines {
  times: number[];
  values: (number | null)[][];
}

/**
 * Series on one axis of time that reaches from `from` to `to` (seconds). Where nothing came for
 * longer than `gap` seconds the line is broken: no data is not a straight line.
 */
export function aligned(series: readonly (readonly HistoryPoint[])[], from: number, to: number, gap: number): Lines {
  const maps = series.map((points) => new Map(points.map((point) => [Math.round(Date.parse(point.at) / 1000), point.mean])));
  const all = new Set<number>();
  for (const map of maps) for (const at of map.keys()) all.add(at);
  const sorted = [...all].sort((a, b) => a - b);
  const times: number[] = [];
  let before: number | null = null;
  for (const at of sorted) {
    if (before !== null && at - before > gap) times.push(before + 1);
    times.push(at);
    before = at;
  }
  if (times.length > 0) {
    if (from < (times[0] as number)) times.unshift(from);
    if (to > (times[times.length - 1] as number)) times.push(to);
  }
  return { times, values: maps.map((map) => times.map((at) => map.get(at) ?? null)) };
}

/** A series that misses a moment at which another one has a value is not broken by that. */
export function bridged(values: readonly (number | null)[], times: readonly number[], gap: number): (number | null)[] {
  const found = [...values];
  let last = -1;
  for (let place = 0; place < found.length; place += 1) {
    if (found[place] === null) continue;
    if (last >= 0 && place - last > 1 && (times[place] as number) - (times[last] as number) <= gap) {
      const a = found[last] as number;
      const b = found[place] as number;
      const span = (times[place] as number) - (times[last] as number);
      for (let inside = last + 1; inside < place; inside += 1) {
        found[inside] = a + ((b - a) * ((times[inside] as number) - (times[last] as number))) / span;
      }
    }
    last = place;
  }
  return found;
}

export interface MetricPlan {
  name: string;
  unit: string;
  help: string;
  state: boolean;
  rows: string[];
}

/** What can be drawn, in the order of the manifest, states last; what is not in it comes by name. */
export function metricPlan(metrics: readonly AddonMetric[], series: readonly HistorySeries[]): MetricPlan[] {
  const rowsOf = new Map<string, string[]>();
  const units = new Map<string, string>();
  for (const one of series) {
    const rows = rowsOf.get(one.metric) ?? [];
    rows.push(one.row);
    rowsOf.set(one.metric, rows);
    units.set(one.metric, one.unit);
  }
  const allRows = [...new Set(series.map((one) => one.row).filter((row) => row !== ''))];
  const known = new Map(metrics.map((one) => [one.name, one]));
  const names = [...metrics.map((one) => one.name), ...[...rowsOf.keys()].filter((name) => !known.has(name)).sort()];
  const plans: MetricPlan[] = [];
  for (const name of names) {
    const metric = known.get(name);
    if (metric?.type === 'text') continue;
    const listed = rowsOf.get(name);
    // The list of series ends after some hundred; what the manifest promises for rows is there too.
    if (listed === undefined && !(metric?.per_row === true && allRows.length > 0)) continue;
    plans.push({
      name,
      unit: units.get(name) ?? unitOf(metric),
      help: metric?.help ?? '',
      state: metric?.type === 'state',
      rows: (listed ?? allRows).sort(naturally),
    });
  }
  return [...plans.filter((one) => !one.state), ...plans.filter((one) => one.state)];
}

function unitOf(metric: AddonMetric | undefined): string {
  const unit = metric?.unit ?? '';
  return metric?.type === 'counter' ? `${unit} per second`.trim() : unit;
}

/** Gi0/2 before Gi0/10. */
export function naturally(a: string, b: string): number {
  const left = a.split(/(\d+)/);
  const right = b.split(/(\d+)/);
  for (let place = 0; place < Math.min(left.length, right.length); place += 1) {
    const one = left[place] as string;
    const two = right[place] as string;
    if (one === two) continue;
    return place % 2 === 1 ? Number(one) - Number(two) : one < two ? -1 : 1;
  }
  return left.length - right.length;
}

/** Rows to begin with: those that move the most. */
export function firstRows(series: readonly HistorySeries[], most: number): string[] {
  const rows = [...new Set(series.map((one) => one.row).filter((row) => row !== ''))].sort(naturally);
  const busy = new Map<string, number>();
  const rate = series.find((one) => one.unit.endsWith('per second') && !one.unit.startsWith('packets'))?.metric;
  for (const one of series) if (one.metric === rate && one.row !== '') busy.set(one.row, one.last ?? 0);
  return rows.sort((a, b) => (busy.get(b) ?? 0) - (busy.get(a) ?? 0)).slice(0, most);
}
