import { describe, expect, it } from 'vitest';
import { ageHistogram, cellAt, gridFor, step } from './heat_grid';

describe('the grid of a heat map', () => {
  it('is as large as fits', () => {
    expect(gridFor(10, 400, 100)).toEqual({ cell: 22, columns: 18, rows: 1 });
    const many = gridFor(5000, 1000, 200);
    expect(many.rows * many.cell).toBeLessThanOrEqual(200);
    expect(many.columns * many.rows).toBeGreaterThanOrEqual(5000);
  });
  it('grows in height when even the smallest cells do not fit', () => {
    const huge = gridFor(100000, 500, 200);
    expect(huge.cell).toBe(5);
    expect(huge.rows).toBe(1000);
  });
  it('finds the cell under a point', () => {
    const grid = { cell: 10, columns: 5, rows: 3 };
    expect(cellAt(grid, 12, 49, 19)).toBe(9);
    expect(cellAt(grid, 12, 50, 5)).toBe(-1);
    expect(cellAt(grid, 12, 25, 25)).toBe(-1);
  });
  it('is walked by arrows and stays inside', () => {
    const grid = { cell: 10, columns: 5, rows: 3 };
    expect(step(grid, 12, 3, 'ArrowDown')).toBe(8);
    expect(step(grid, 12, 9, 'ArrowDown')).toBe(9);
    expect(step(grid, 12, 0, 'ArrowLeft')).toBe(0);
    expect(step(grid, 12, 4, 'End')).toBe(11);
    expect(step(grid, 12, 4, 'x')).toBe(4);
  });
});

describe('ageHistogram', () => {
  it('counts shares, and what is past its bound apart', () => {
    expect(ageHistogram([0, 0.09, 0.1, 0.99, 1, 1.01, 7], 10)).toEqual([2, 1, 0, 0, 0, 0, 0, 0, 0, 2, 2]);
  });
});
