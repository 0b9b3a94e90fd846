import { describe, expect, it } from 'vitest';
import { quickest } from '../testing/quickest';
import { arrange, byValue, window } from './table_rows';

interface Row {
  name: string;
  size: number | null;
  groups: string[];
}

const rows: Row[] = [
  { name: 'sw-10', size: 1, groups: ['b'] },
  { name: 'sw-2', size: null, groups: ['a', 'b'] },
  { name: 'sw-1', size: 1, groups: [] },
];
const key = (row: Row) => row.name;
const shown = (items: ReturnType<typeof arrange<Row>>) =>
  items.map((item) => (item.kind === 'group' ? `[${item.key}:${item.rows.length}]` : item.row.name));

describe('arrange', () => {
  it('sorts naturally and keeps the place of equals', () => {
    expect(shown(arrange({ rows, key, value: (row) => row.name }))).toEqual(['sw-1', 'sw-2', 'sw-10']);
    expect(shown(arrange({ rows, key, value: (row) => row.size }))).toEqual(['sw-10', 'sw-1', 'sw-2']);
    expect(shown(arrange({ rows, key, value: (row) => row.name, descending: true }))).toEqual(['sw-10', 'sw-2', 'sw-1']);
  });
  it('groups, a row in each of its groups, those without at the end', () => {
    const items = arrange({ rows, key, groups: (row) => row.groups });
    expect(shown(items)).toEqual(['[a:1]', 'sw-2', '[b:2]', 'sw-10', 'sw-2', '[:1]', 'sw-1']);
    expect(new Set(items.map((item) => item.key)).size).toBe(items.length);
  });
  it('closes groups but counts them', () => {
    expect(shown(arrange({ rows, key, groups: (row) => row.groups, closed: new Set(['b', '']) }))).toEqual(['[a:1]', 'sw-2', '[b:2]', '[:1]']);
  });
});

describe('byValue', () => {
  it('compares as people do', () => {
    expect(['SW-10', 'sw-2', 'sw-02b', 'b'].sort(byValue)).toEqual(['b', 'sw-2', 'sw-02b', 'SW-10']);
    expect([3, null, 20, undefined, 1].sort(byValue).slice(0, 3)).toEqual([1, 3, 20]);
    expect(byValue(null, 1)).toBeGreaterThan(0);
  });
  it('sorts 5000 rows within a frame', () => {
    const many = Array.from({ length: 5000 }, (_, at) => ({ name: `switch-${(at * 7919) % 5000}` }));
    const request = { rows: many, key: (row: { name: string }) => row.name, value: (row: { name: string }) => row.name };
    expect(quickest(() => arrange(request))).toBeLessThan(40);
    expect(arrange(request)[4999]).toMatchObject({ key: 'switch-4999' });
  });
});

describe('window', () => {
  it('shows only what is seen, and some more', () => {
    expect(window(0, 340, 34, 5000)).toEqual({ from: 0, to: 16 });
    expect(window(34 * 100, 340, 34, 5000)).toEqual({ from: 94, to: 116 });
  });
  it('stays inside', () => {
    expect(window(0, 340, 34, 3)).toEqual({ from: 0, to: 3 });
    expect(window(99999, 340, 34, 3)).toEqual({ from: 3, to: 3 });
    expect(window(0, 0, 34, 0)).toEqual({ from: 0, to: 0 });
  });
});
