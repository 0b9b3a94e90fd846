import { describe, expect, it } from 'vitest';
import { markKinds, marksAt, markWords, signOf } from './chart_marks';

const down = (at: number) => ({ at, label: 'target is down', color: 'bad' });
const up = (at: number) => ({ at, label: 'target is up', color: 'ok' });

describe('marks of a chart', () => {
  it('have a sign each', () => {
    expect(signOf(down(1))).not.toBe(signOf(up(1)));
    expect(signOf({})).toBe('✕');
  });
  it('stand in the legend once for each kind that is shown', () => {
    const marks = [down(10), up(20), down(30), down(900)];
    expect(markKinds(marks, 0, 100)).toEqual([{ label: 'target is down', color: 'bad', count: 2 }, { label: 'target is up', color: 'ok', count: 1 }]);
    expect(markKinds(marks, 200, 300)).toEqual([]);
  });
  it('are told with the first sample after them, also over a gap', () => {
    const times = [0, 10, 11, 40, 50];
    const has = (place: number) => place !== 2;
    const marks = [up(35), down(15), down(48), down(55)];
    expect(marksAt(marks, times, has, 1)).toEqual([]);
    expect(marksAt(marks, times, has, 3)).toEqual([down(15), up(35)]);
    expect(marksAt(marks, times, has, 4)).toEqual([down(48)]);
    expect(marksAt([down(55)], [0, 10, 60], (place) => place < 2, 1)).toEqual([down(55)]);
  });
  it('are words with times', () => {
    expect(markWords([])).toBe('');
    expect(markWords([down(15)])).toMatch(/^; target is down at .*UTC/);
    expect(markWords([down(1), up(2), down(3), up(4), down(5)])).toMatch(/; and 2 more$/);
  });
});
