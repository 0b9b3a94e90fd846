// Moments that are marked in a chart, as signs and words: never by colour alone. Pure, for its test.
import { bothTimes } from './clock';

export interface ChartMark {
  /** Seconds since the epoch. */
  at: number;
  label: string;
  /** A token, "bad" unless given: also chooses the sign. */
  color?: string;
}

/** What stands above the line: drawn in the chart, written in its legend. */
export function signOf(mark: Pick<ChartMark, 'color'>): '✕' | '●' {
  return mark.color === 'ok' ? '●' : '✕';
}

/** One line of the legend for each kind of mark between these seconds, the most frequent words first. */
export function markKinds(marks: readonly ChartMark[], from: number, to: number, most = 3): { label: string; color: string; count: number }[] {
  const kinds = new Map<string, { label: string; color: string; count: number }>();
  for (const mark of marks) {
    if (mark.at < from || mark.at > to) continue;
    const kind = kinds.get(mark.label) ?? { label: mark.label, color: mark.color ?? 'bad', count: 0 };
    kind.count += 1;
    kinds.set(mark.label, kind);
  }
  return [...kinds.values()].sort((a, b) => b.count - a.count).slice(0, most);
}

/** What happened between the sample that is read and the one before it; after the last sample, until now. */
export function marksAt(marks: readonly ChartMark[], times: readonly number[], has: (place: number) => boolean, place: number): ChartMark[] {
  const seek = (step: 1 | -1) => {
    for (let next = place + step; next >= 0 && next < times.length; next += step) if (has(next)) return times[next];
    return undefined;
  };
  const from = seek(-1) ?? times[0] ?? 0;
  const to = seek(1) === undefined ? (times[times.length - 1] ?? 0) : (times[place] ?? 0);
  return marks.filter((mark) => mark.at > from && mark.at <= to).sort((a, b) => a.at - b.at);
}

/** "; target is down at 14:05:09 (12:05:09 UTC)", to be told after the values. */
export function markWords(marks: readonly ChartMark[], most = 3): string {
  const told = marks.slice(0, most).map((mark) => `; ${mark.label} at ${bothTimes(mark.at * 1000)}`).join('');
  return marks.length > most ? `${told}; and ${marks.length - most} more` : told;
}
