import { describe, expect, it } from 'vitest';
import { sumOf } from './costs';
import type { CostRow } from './costs';

const row = (runs: number, busy: number): CostRow => ({ key: 'a::b', device: 'b', runs, busy, mean: busy / runs, share: busy / 100, failures: 1, requests: runs * 2, bytes: 1000 });

describe('costs of several targets', () => {
  it('are added up, and the mean is that of all runs', () => {
    expect(sumOf([row(10, 1), row(30, 7)])).toEqual({ runs: 40, busy: 8, mean: 0.2, share: 0.08, failures: 2, requests: 80, bytes: 2000 });
  });
  it('are none where nothing ran', () => expect(sumOf([])).toBeNull());
});
