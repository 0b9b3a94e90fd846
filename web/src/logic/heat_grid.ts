// Where the cells of a heat map stand: as large as fits into the height, in rows. Pure.

export interface Grid {
  cell: number;
  columns: number;
  rows: number;
}

export function gridFor(cells: number, width: number, height: number, largest = 22, least = 5): Grid {
  for (let cell = largest; cell > least; cell -= 1) {
    const columns = Math.max(1, Math.floor(width / cell));
    const rows = Math.ceil(cells / columns);
    if (rows * cell <= height) return { cell, columns, rows };
  }
  const columns = Math.max(1, Math.floor(width / least));
  return { cell: least, columns, rows: Math.ceil(cells / columns) };
}

/** The cell under a point; -1 if there is none. */
export function cellAt(grid: Grid, cells: number, x: number, y: number): number {
  const column = Math.floor(x / grid.cell);
  if (column < 0 || column >= grid.columns || y < 0) return -1;
  const at = Math.floor(y / grid.cell) * grid.columns + column;
  return at < cells ? at : -1;
}

/** Where the arrows lead. */
export function step(grid: Grid, cells: number, at: number, key: string): number {
  const moves: Record<string, number> = {
    ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + grid.columns, ArrowUp: at - grid.columns, Home: 0, End: cells - 1,
  };
  const to = moves[key];
  return to === undefined || to < 0 || to >= cells ? at : to;
}

/** Ages as shares of their bounds, counted in `buckets` parts; the last entry is what is past its bound. */
export function ageHistogram(shares: readonly number[], buckets = 10): number[] {
  const counts = Array.from({ length: buckets + 1 }, () => 0);
  for (const share of shares) {
    const at = share > 1 ? buckets : Math.min(buckets - 1, Math.floor(share * buckets));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}
