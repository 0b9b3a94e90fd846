import { describe, expect, it } from 'vitest';
import type { HistoryAnswer, HistoryPoint } from './history';
import { HistoryBook } from './history_book';
import type { Question } from './history_book';

const kNow = 1_760_000_000;
const point = (at: number, mean: number): HistoryPoint => ({ at: new Date(at * 1000).toISOString(), count: 1, min: mean, mean, max: mean, last: mean });
const answer = (question: Question, values: (metric: string, row: string) => HistoryPoint[]): HistoryAnswer => ({
  key: 'k', more: false,
  series: question.metrics.flatMap((metric) => question.rows.map((row) => ({ metric, row, unit: '', from: 'samples' as const, points: values(metric, row) }))),
});
const table = (count: number, rows: readonly string[]) => Array.from({ length: count }, (_, place) => ({ metric: `m${place}`, rows }));

describe('the book of values', () => {
  it('asks for eight charts of seven rows in one question, not in fifty-six', () => {
    const rows = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const book = new HistoryBook(3600, 15);
    const first = book.questions(table(8, rows), kNow, 15);
    expect(first).toHaveLength(1);
    expect(first[0]).toMatchObject({ rows, from: kNow - 3600, to: kNow, step: 15 });
    expect(first[0]?.metrics).toHaveLength(8);
    expect(book.questions([...table(8, rows), { metric: 'uptime', rows: [''] }], kNow, 15)).toHaveLength(2);
  });

  it('stays within what one answer may hold', () => {
    const rows = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const asked = new HistoryBook(3600, 15).questions(table(40, rows), kNow, 15);
    expect(asked.every((one) => one.metrics.length * one.rows.length <= 100)).toBe(true);
    expect(asked.flatMap((one) => one.metrics)).toHaveLength(40);
  });

  it('asks only for what is new, and not before it is old enough', () => {
    const book = new HistoryBook(3600, 15);
    const wanted = [{ metric: 'in', rows: ['a', 'b'] }];
    const [first] = book.questions(wanted, kNow, 15) as [Question];
    book.take(first, answer(first, () => [point(kNow - 3600, 1), point(kNow - 30, 2), point(kNow - 10, 3)]));
    expect(book.questions(wanted, kNow + 14, 15)).toEqual([]);
    const [second] = book.questions(wanted, kNow + 20, 15) as [Question];
    expect(second.rows).toEqual(['a', 'b']);
    expect(second.from % 15).toBe(0);
    expect(second.from).toBeLessThanOrEqual(kNow - 15);
    expect(second.from).toBeGreaterThan(kNow - 45);
    book.take(second, answer(second, () => [point(kNow - 10, 4), point(kNow + 5, 5)]));
    const found = book.points('in', ['a', 'b']);
    // What is older than the range is gone, what came again is there once, in its newest form.
    expect(found?.points[0]?.map((one) => one.mean)).toEqual([2, 4, 5]);
    expect(found?.to).toBe(kNow + 20);
  });

  it('asks for a row that is added from its beginning, and the others only from their end', () => {
    const book = new HistoryBook(3600, 15);
    const [first] = book.questions([{ metric: 'in', rows: ['a'] }], kNow, 15) as [Question];
    book.take(first, answer(first, () => [point(kNow - 20, 1)]));
    const asked = book.questions([{ metric: 'in', rows: ['a', 'b'] }], kNow + 60, 15);
    expect(asked.map((one) => [one.rows, one.from === kNow + 60 - 3600])).toEqual([[['b'], true], [['a'], false]]);
  });

  it('begins anew after a pause longer than the range', () => {
    const book = new HistoryBook(3600, 15);
    const wanted = [{ metric: 'in', rows: ['a'] }];
    const [first] = book.questions(wanted, kNow, 15) as [Question];
    book.take(first, answer(first, () => [point(kNow - 20, 1)]));
    const [late] = book.questions(wanted, kNow + 10_000, 15) as [Question];
    expect(late.from).toBe(kNow + 10_000 - 3600);
    book.take(late, null);
    expect(book.points('in', ['a'])?.points).toEqual([[]]);
  });

  it('knows nothing before it was answered', () => {
    expect(new HistoryBook(3600, 15).points('in', ['a'])).toBeNull();
  });
});
