// What a table shows, as a flat list: headers of groups and rows, filtered, sorted, collapsed. Pure.

export type Item<T> =
  | { kind: 'group'; key: string; rows: readonly T[]; open: boolean }
  | { kind: 'row'; row: T; key: string };

export interface Sorting {
  column: string;
  descending: boolean;
}

export interface RowsRequest<T> {
  rows: readonly T[];
  key: (row: T) => string;
  /** What is sorted by; nothing: the order of the rows as they are. */
  value?: ((row: T) => SortValue) | undefined;
  descending?: boolean;
  /** A row may stand in several groups; none: the group with an empty name, at the end. */
  groups?: ((row: T) => string | readonly string[]) | undefined;
  compareGroups?: ((a: string, b: string) => number) | undefined;
  closed?: ReadonlySet<string>;
}

export function arrange<T>(request: RowsRequest<T>): Item<T>[] {
  const sorted = sortRows(request);
  const item = (row: T, group: string): Item<T> => ({ kind: 'row', row, key: group === '' ? request.key(row) : `${group}\n${request.key(row)}` });
  if (request.groups === undefined) return sorted.map((row) => item(row, ''));
  const groups = new Map<string, T[]>();
  for (const row of sorted) {
    const found = request.groups(row);
    const names = typeof found === 'string' ? [found] : found.length === 0 ? [''] : found;
    for (const name of names) {
      const lot = groups.get(name);
      if (lot) lot.push(row);
      else groups.set(name, [row]);
    }
  }
  const compare = request.compareGroups ?? naturally;
  const names = [...groups.keys()].sort((a, b) => Number(a === '') - Number(b === '') || compare(a, b));
  const items: Item<T>[] = [];
  for (const name of names) {
    const rows = groups.get(name) ?? [];
    const open = request.closed?.has(name) !== true;
    items.push({ kind: 'group', key: name, rows, open });
    if (open) for (const row of rows) items.push(item(row, `g${name}`));
  }
  return items;
}

function sortRows<T>(request: RowsRequest<T>): readonly T[] {
  const value = request.value;
  if (value === undefined) return request.rows;
  const sign = request.descending === true ? -1 : 1;
  // Keys once per row, and the place between equals, so that rows do not jump.
  return request.rows
    .map((row, place) => ({ row, place, key: sortKey(value(row)) }))
    .sort((a, b) => sign * compareKeys(a.key, b.key) || a.place - b.place)
    .map((one) => one.row);
}

export type SortValue = string | number | null | undefined;

const naturalKeys = new Map<string, string>();
const kMostKeys = 50_000;

/** A text that stands in plain order where people expect it: sw-2 before sw-10, no matter the case. */
export function naturalKey(text: string): string {
  let key = naturalKeys.get(text);
  if (key === undefined) {
    key = text.toLowerCase().replace(/\d+/g, (digits) => digits.replace(/^0+(?=\d)/, '').padStart(12, '0'));
    if (naturalKeys.size >= kMostKeys) naturalKeys.clear();
    naturalKeys.set(text, key);
  }
  return key;
}

export function naturally(a: string, b: string): number {
  const left = naturalKey(a);
  const right = naturalKey(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

function sortKey(value: SortValue): SortValue {
  return typeof value === 'string' ? naturalKey(value) : value;
}

function compareKeys(a: SortValue, b: SortValue): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const none = Number(a === null || a === undefined) - Number(b === null || b === undefined);
  if (none !== 0 || a === null || a === undefined || b === null || b === undefined) return none;
  const left = String(a);
  const right = String(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Numbers by size, texts naturally, what is not known always last in rising order. */
export function byValue(a: SortValue, b: SortValue): number {
  return compareKeys(sortKey(a), sortKey(b));
}

/** First and last index to show, with some more on both sides. */
export function window(scroll: number, height: number, rowHeight: number, total: number, more = 6): { from: number; to: number } {
  const from = Math.min(total, Math.max(0, Math.floor(scroll / rowHeight) - more));
  const to = Math.min(total, Math.ceil((scroll + height) / rowHeight) + more);
  return { from, to: Math.max(from, to) };
}
