// Where the jobs of a batch are drawn: levels from left to right, jobs of one level below each other in
// the order that crosses the fewest lines, lines over several levels led between the jobs. Pure.

export interface LayoutNode {
  id: string;
  level: number;
  parents: readonly string[];
}

export interface PlacedNode {
  id: string;
  x: number;
  y: number;
}

export interface PlacedEdge {
  from: string;
  to: string;
  path: string;
}

export interface Layout {
  width: number;
  height: number;
  nodes: PlacedNode[];
  edges: PlacedEdge[];
}

export const kNodeWidth = 188;
export const kNodeHeight = 46;
const kGapX = 56;
const kGapY = 14;
const kMargin = 16;
const kSweeps = 6;

interface Cell {
  name: string;
  /** Null: only a line passes here. */
  id: string | null;
  level: number;
  before: Cell[];
  after: Cell[];
  place: number;
  y: number;
}

export function layoutGraph(nodes: readonly LayoutNode[]): Layout {
  const { levels, chains } = cellsOf(nodes);
  for (let sweep = 0; sweep < kSweeps; sweep += 1) {
    const down = sweep % 2 === 0;
    const order = down ? levels : [...levels].reverse();
    for (const level of order) sortBy(level, (cell) => mean((down ? cell.before : cell.after).map((one) => one.place)));
  }
  for (const level of levels) level.forEach((cell, index) => (cell.y = index * heightOf(cell)));
  for (let pass = 0; pass < 8; pass += 1) {
    const down = pass % 2 === 0;
    for (const level of down ? levels : [...levels].reverse()) {
      settle(level, (cell) => mean((down ? cell.before : cell.after).map((one) => one.y + sizeOf(one) / 2)));
    }
  }
  const top = Math.min(...levels.flat().map((cell) => cell.y));
  for (const cell of levels.flat()) cell.y += kMargin - top; // settling drifts downwards
  const placed: PlacedNode[] = [];
  for (const cell of levels.flat()) if (cell.id !== null) placed.push({ id: cell.id, x: xOf(cell.level), y: cell.y });
  const bottom = Math.max(0, ...levels.flat().map((cell) => cell.y + sizeOf(cell)));
  return {
    width: levels.length === 0 ? 0 : xOf(levels.length - 1) + kNodeWidth + kMargin,
    height: bottom + kMargin,
    nodes: placed,
    edges: chains.map((chain) => ({ from: chain[0]?.id ?? '', to: chain.at(-1)?.id ?? '', path: pathOf(chain) })),
  };
}

function cellsOf(nodes: readonly LayoutNode[]): { levels: Cell[][]; chains: Cell[][] } {
  const levels: Cell[][] = [];
  const byId = new Map<string, Cell>();
  const add = (name: string, id: string | null, level: number): Cell => {
    while (levels.length <= level) levels.push([]);
    const cells = levels[level] as Cell[];
    const cell: Cell = { name, id, level, before: [], after: [], place: cells.length, y: 0 };
    cells.push(cell);
    return cell;
  };
  for (const node of nodes) byId.set(node.id, add(node.id, node.id, node.level));
  const chains: Cell[][] = [];
  for (const node of nodes) {
    const to = byId.get(node.id) as Cell;
    for (const parent of new Set(node.parents)) {
      const from = byId.get(parent);
      if (from === undefined || from.level >= to.level) continue; // a job of another batch
      const chain = [from];
      for (let level = from.level + 1; level < to.level; level += 1) chain.push(add(`${parent} ${node.id}`, null, level));
      chain.push(to);
      for (let at = 1; at < chain.length; at += 1) {
        const [left, right] = [chain[at - 1] as Cell, chain[at] as Cell];
        left.after.push(right);
        right.before.push(left);
      }
      chains.push(chain);
    }
  }
  return { levels, chains };
}

function sortBy(level: Cell[], wanted: (cell: Cell) => number | null): void {
  const keyed = level.map((cell) => ({ cell, key: wanted(cell) ?? cell.place }));
  keyed.sort((a, b) => a.key - b.key || a.cell.place - b.cell.place);
  keyed.forEach(({ cell }, index) => {
    cell.place = index;
    level[index] = cell;
  });
}

/** Moves each towards its neighbours in the level before, without passing those above and below. */
function settle(level: readonly Cell[], centre: (cell: Cell) => number | null): void {
  level.forEach((cell) => {
    const wanted = centre(cell);
    if (wanted !== null) cell.y = wanted - sizeOf(cell) / 2;
  });
  for (let at = 1; at < level.length; at += 1) {
    const [above, cell] = [level[at - 1] as Cell, level[at] as Cell];
    cell.y = Math.max(cell.y, above.y + heightOf(above));
  }
}

function sizeOf(cell: Cell): number {
  return cell.id === null ? 8 : kNodeHeight;
}

function heightOf(cell: Cell): number {
  return sizeOf(cell) + kGapY;
}

function xOf(level: number): number {
  return kMargin + level * (kNodeWidth + kGapX);
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function pathOf(chain: readonly Cell[]): string {
  let path = '';
  for (let at = 1; at < chain.length; at += 1) {
    const [left, right] = [chain[at - 1] as Cell, chain[at] as Cell];
    const x1 = xOf(left.level) + kNodeWidth;
    const y1 = left.y + sizeOf(left) / 2;
    const x2 = xOf(right.level);
    const y2 = right.y + sizeOf(right) / 2;
    const middle = (x1 + x2) / 2;
    if (path === '') path = `M${round(x1)} ${round(y1)}`;
    else path += `H${round(x1)}`; // across the column of a level that it only passes
    path += `C${round(middle)} ${round(y1)} ${round(middle)} ${round(y2)} ${round(x2)} ${round(y2)}`;
  }
  return path;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Where an arrow key leads from a job. */
export function neighbour(layout: Layout, id: string, key: string): string | null {
  const here = layout.nodes.find((node) => node.id === id);
  if (here === undefined) return null;
  const nearest = (found: readonly PlacedNode[]) =>
    [...found].sort((a, b) => Math.abs(a.y - here.y) - Math.abs(b.y - here.y))[0]?.id ?? null;
  const joined = (side: 'from' | 'to') => {
    const other = side === 'from' ? 'to' : 'from';
    const ids = new Set(layout.edges.filter((edge) => edge[other] === id).map((edge) => edge[side]));
    return layout.nodes.filter((node) => ids.has(node.id));
  };
  if (key === 'ArrowLeft') return nearest(joined('from'));
  if (key === 'ArrowRight') return nearest(joined('to'));
  const column = layout.nodes.filter((node) => node.x === here.x);
  if (key === 'ArrowDown') return nearest(column.filter((node) => node.y > here.y));
  if (key === 'ArrowUp') return nearest(column.filter((node) => node.y < here.y));
  return null;
}
