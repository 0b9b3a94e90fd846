import { describe, expect, it } from 'vitest';
import { aligned, bridged, firstRows, kRanges, metricPlan, naturally, stepFor } from './history';
import type { HistoryPoint, HistorySeries } from './history';

const point = (second: number, mean: number): HistoryPoint => ({ at: new Date(second * 1000).toISOString(), count: 1, min: mean, mean, max: mean, last: mean });

describe('history for charts', () => {
  it('asks for some hundred points, whatever the range', () => {
    for (const range of kRanges) {
      const points = range.seconds / stepFor(range.seconds);
      expect(points).toBeLessThanOrEqual(300);
      expect(points).toBeGreaterThan(100);
    }
  });
  it('breaks the line where nothing came', () => {
    const lines = aligned([[point(100, 1), point(110, 2), point(500, 3)]], 0, 600, 60);
    expect(lines.times).toEqual([0, 100, 110, 111, 500, 600]);
    expect(lines.values[0]).toEqual([null, 1, 2, null, 3, null]);
  });
  it('puts series on one axis', () => {
    const lines = aligned([[point(10, 1), point(30, 3)], [point(20, 5)]], 10, 30, 100);
    expect(lines.times).toEqual([10, 20, 30]);
    expect(lines.values).toEqual([[1, null, 3], [null, 5, null]]);
    expect(bridged(lines.values[0] ?? [], lines.times, 100)).toEqual([1, 2, 3]);
    expect(bridged(lines.values[0] ?? [], lines.times, 5)).toEqual([1, null, 3]);
    expect(aligned([[]], 0, 10, 1).times).toEqual([]);
  });
  it('orders metrics as the manifest does, without texts, states last', () => {
    const series: HistorySeries[] = [
      { metric: 'cpu', row: '', unit: 'percent' }, { metric: 'link', row: 'b10', unit: '' }, { metric: 'link', row: 'b2', unit: '' }, { metric: 'extra', row: '', unit: 's' },
    ];
    const plan = metricPlan(
      [{ name: 'link', type: 'state', per_row: true }, { name: 'name', type: 'text' }, { name: 'in', type: 'counter', unit: 'bytes', per_row: true }, { name: 'cpu', type: 'gauge' }, { name: 'never', type: 'gauge' }],
      series,
    );
    expect(plan.map((one) => one.name)).toEqual(['in', 'cpu', 'extra', 'link']);
    expect(plan[0]).toMatchObject({ unit: 'bytes per second', rows: ['b2', 'b10'] });
  });
  it('sorts rows as people count', () => {
    expect(['Gi0/10', 'Gi0/2', 'Eth1'].sort(naturally)).toEqual(['Eth1', 'Gi0/2', 'Gi0/10']);
  });
  it('begins with the rows that carry the most', () => {
    const series: HistorySeries[] = [
      { metric: 'in', row: 'a', unit: 'bytes per second', last: 1 }, { metric: 'in', row: 'b', unit: 'bytes per second', last: 9 }, { metric: 'in', row: 'c', unit: 'bytes per second', last: 5 },
    ];
    expect(firstRows(series, 2)).toEqual(['b', 'c']);
    expect(firstRows([{ metric: 'x', row: '', unit: '' }], 2)).toEqual([]);
  });
});
