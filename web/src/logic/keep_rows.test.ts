import { describe, expect, it } from 'vitest';
import { keepRows } from './keep_rows';

const row = (key: string, value = 1) => ({ key, value });
const key = (one: { key: string }) => one.key;

describe('keepRows', () => {
  it('keeps the list itself when nothing changed', () => {
    const before = [row('a'), row('b')];
    expect(keepRows(before, [row('a'), row('b')], key)).toBe(before);
  });
  it('keeps rows that say the same and takes the others', () => {
    const before = [row('a'), row('b'), row('c')];
    const after = keepRows(before, [row('c'), row('b', 2), row('d')], key);
    expect(after[0]).toBe(before[2]);
    expect(after).toEqual([row('c'), row('b', 2), row('d')]);
    expect(after[1]).not.toBe(before[1]);
  });
  it('notices that something came or went', () => {
    const before = [row('a')];
    expect(keepRows(before, [row('a'), row('b')], key)).toHaveLength(2);
    expect(keepRows(before, [], key)).toEqual([]);
    expect(keepRows([], before, key)).toBe(before);
  });
});
