// The values of one target over one range, kept from answers of the history: what is there is asked for
// from where it ends, and all that is wanted at a time is asked for together. Pure, for its test.
import type { HistoryAnswer, HistoryPoint, HistorySeries } from './history';

export interface Wanted {
  metric: string;
  /** [''] for a metric that has no rows. */
  rows: readonly string[];
}

/** One question to the server: every metric of every row, in seconds. */
export interface Question {
  metrics: readonly string[];
  rows: readonly string[];
  from: number;
  to: number;
  step: number;
}

interface Kept {
  points: readonly HistoryPoint[];
  tier: HistorySeries['from'];
  /** Until when it was asked for. */
  to: number;
}

// What the server answers at once, and what an address may hold.
const kMostSeries = 100;
const kMostNames = 40;

const placeOf = (metric: string, row: string) => JSON.stringify([metric, row]);
const at = (point: HistoryPoint) => Date.parse(point.at) / 1000;

export class HistoryBook {
  readonly range: number;
  readonly step: number;
  readonly #kept = new Map<string, Kept>();

  constructor(range: number, step: number) {
    this.range = range;
    this.step = step;
  }

  get empty(): boolean {
    return this.#kept.size === 0;
  }

  /** What is to be asked so that all of this is known to within `soonest` seconds; nothing if it is. */
  questions(wanted: readonly Wanted[], now: number, soonest: number): Question[] {
    const groups = new Map<string, Question & { metrics: string[] }>();
    const ask = (metric: string, rows: readonly string[], from: number) => {
      if (rows.length === 0) return;
      const group = JSON.stringify([rows, from <= now - this.range]);
      const one = groups.get(group) ?? { metrics: [], rows, from, to: now, step: this.step };
      if (!one.metrics.includes(metric)) one.metrics.push(metric);
      one.from = Math.min(one.from, from);
      groups.set(group, one);
    };
    for (const { metric, rows } of wanted) {
      const known = (row: string) => this.#kept.get(placeOf(metric, row));
      const unknown = rows.filter((row) => now - (known(row)?.to ?? -Infinity) >= this.range);
      ask(metric, unknown, now - this.range);
      const ends = rows.filter((row) => !unknown.includes(row)).map((row) => ({ row, to: known(row)?.to ?? now }));
      const old = ends.filter((one) => now - one.to >= soonest);
      // The last stretch may not have been over, and late values may have come into it.
      ask(metric, old.map((one) => one.row), Math.floor(Math.min(...old.map((one) => one.to)) / this.step) * this.step - this.step);
    }
    return [...groups.values()].flatMap((one) => parts(one));
  }

  /** The answer to a question; null: there is nothing of all that. */
  take(question: Question, answer: HistoryAnswer | null): void {
    const first = question.to - this.range;
    const found = new Map((answer?.series ?? []).map((one) => [placeOf(one.metric, one.row), one]));
    for (const metric of question.metrics) {
      for (const row of question.rows) {
        const place = placeOf(metric, row);
        const before = this.#kept.get(place);
        const one = found.get(place);
        const kept = (before?.points ?? []).filter((point) => at(point) < question.from && at(point) >= first);
        this.#kept.set(place, { points: [...kept, ...(one?.points ?? [])], tier: one?.from ?? before?.tier, to: question.to });
      }
    }
  }

  /** Of each row; null while nothing was answered about it. */
  points(metric: string, rows: readonly string[]): { points: (readonly HistoryPoint[])[]; to: number; tier: HistorySeries['from'] } | null {
    const all = rows.map((row) => this.#kept.get(placeOf(metric, row)));
    const known = all.filter((one) => one !== undefined);
    if (known.length === 0) return null;
    return { points: all.map((one) => one?.points ?? []), to: Math.max(...known.map((one) => one.to)), tier: known.find((one) => one.points.length > 0)?.tier };
  }
}

function parts(question: Question): Question[] {
  const rows = question.rows.slice(0, kMostNames);
  const size = Math.max(1, Math.min(kMostNames, Math.floor(kMostSeries / rows.length)));
  const out: Question[] = [];
  for (let from = 0; from < question.metrics.length; from += size) out.push({ ...question, rows, metrics: question.metrics.slice(from, from + size) });
  return out;
}
