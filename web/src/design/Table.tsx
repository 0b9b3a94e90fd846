// A table for thousands of rows: only the rows in sight are in the page, and each cell follows its own
// row. Keys: j k or arrows move, Enter opens, Space or x selects, Left and Right close and open groups.
import { createEffect, createMemo, createSignal, createUniqueId, For, onCleanup, onMount, Show, untrack } from 'solid-js';
import type { JSX } from 'solid-js';
import { count, plural } from '../logic/format';
import { nextFrame } from '../logic/frame';
import { arrange, window as visibleWindow } from '../logic/table_rows';
import type { Item, Sorting } from '../logic/table_rows';
import { Button } from './Button';
import { Icon } from './Icon';
import { Menu } from './Menu';
import { remember, remembered } from './theme';
import './table.css';

export interface Column<T> {
  id: string;
  title: string;
  /** A CSS track: "120px", "minmax(160px, 2fr)". */
  width: string;
  cell: (row: T) => JSX.Element;
  /** What it is sorted by; without it the column cannot be sorted. */
  value?: (row: T) => string | number | null | undefined;
  end?: boolean;
  /** Longer words for the column chooser and the title. */
  help?: string;
  /** Not shown until somebody chooses it. */
  hidden?: boolean;
  /** Cannot be taken away. */
  fixed?: boolean;
}

export interface TableProps<T> {
  /** Under this name the choice of columns is kept. */
  id: string;
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
  /** Called where a row is shown, so that its cells follow it: (row) => row.track(). */
  track?: (row: T) => void;
  /** Read it, and the order is made anew when it changes. */
  order?: () => unknown;
  sort?: Sorting;
  /** The column it is sorted by now. */
  onSort?: (column: string | undefined) => void;
  groups?: ((row: T) => string | readonly string[]) | undefined;
  groupHead?: (name: string, rows: readonly T[]) => JSX.Element;
  compareGroups?: (a: string, b: string) => number;
  onOpen?: (row: T) => void;
  /** Keys of selected rows; with `onSelect` rows have check boxes. */
  selected?: ReadonlySet<string>;
  onSelect?: (keys: ReadonlySet<string>) => void;
  /** How a row looks where there is no room for columns. */
  card?: (row: T) => JSX.Element;
  cardHeight?: number;
  /** As high as its rows, at most this many; without it the table fills its place. */
  grow?: number;
  empty?: JSX.Element;
  /** What rows are called: "target". */
  noun?: string;
  /** How many there are without the filter; the foot then says "5 of 20". */
  total?: number;
  /** Shown in the foot. */
  foot?: JSX.Element;
}

const kRowHeight = 34;
const kCardBelow = 640;
const kMadeAtOnce = 8;

export function Table<T>(props: TableProps<T>): JSX.Element {
  const base = createUniqueId();
  const [sorting, setSorting] = createSignal<Sorting | null>(props.sort ?? null);
  const [closed, setClosed] = createSignal<ReadonlySet<string>>(new Set());
  const [scroll, setScroll] = createSignal(0);
  const [size, setSize] = createSignal({ width: 1200, height: 600 });
  const [current, setCurrent] = createSignal<string | null>(null);
  const [chosen, setChosen] = createSignal(choice(props));
  let scroller!: HTMLDivElement;

  const columns = createMemo(() => props.columns.filter((column) => column.fixed === true || chosen().has(column.id)));
  const cards = () => props.card !== undefined && size().width < kCardBelow;
  const rowHeight = () => (cards() ? (props.cardHeight ?? 64) : kRowHeight);
  const headHeight = () => (cards() ? 0 : 35);
  const items = createMemo<Item<T>[]>(() => {
    props.order?.();
    const by = props.columns.find((column) => column.id === sorting()?.column);
    return arrange({
      rows: props.rows,
      key: props.rowKey,
      value: by?.value,
      descending: sorting()?.descending ?? false,
      groups: props.groups,
      compareGroups: props.compareGroups,
      closed: closed(),
    });
  });
  createEffect(() => props.onSort?.(sorting()?.column));
  const range = createMemo(
    () => visibleWindow(scroll(), size().height - headHeight(), rowHeight(), items().length),
    undefined,
    { equals: (a, b) => a.from === b.from && a.to === b.to },
  );
  // Items are made anew with each order; what is shown stays the same object while its key does.
  const kept = new Map<string, { item: () => Item<T>; place: () => number; set: (item: Item<T>, place: number) => void }>();
  // Whoever scrolls far brings dozens of rows into sight at once: some are made in each frame.
  const [portion, setPortion] = createSignal(0);
  const visible = createMemo(() => {
    portion();
    const { from, to } = range();
    const now = items();
    const wanted = [];
    const seen = new Set<string>();
    let made = 0;
    for (let place = from; place < to && place < now.length; place += 1) {
      const item = now[place] as Item<T>;
      const name = `${item.kind} ${item.key}`;
      seen.add(name);
      let slot = kept.get(name);
      if (slot === undefined) {
        made += 1;
        if (made > kMadeAtOnce) continue;
        const [shown, setShown] = createSignal<Item<T>>(item, { equals: sameItem });
        const [at, setAt] = createSignal(place);
        slot = { item: shown, place: at, set: (next, where) => (setShown(() => next), setAt(where)) };
        kept.set(name, slot);
      } else untrack(() => slot?.set(item, place));
      wanted.push(slot);
    }
    for (const name of [...kept.keys()]) if (!seen.has(name)) kept.delete(name);
    if (made > kMadeAtOnce) nextFrame(() => setPortion((before) => before + 1));
    return wanted;
  });

  onMount(() => {
    const watch = new ResizeObserver(() => setSize({ width: scroller.clientWidth, height: scroller.clientHeight }));
    watch.observe(scroller);
    onCleanup(() => watch.disconnect());
  });
  createEffect(() => {
    const tracks = [...(props.onSelect ? ['36px'] : []), ...columns().map((column) => column.width)];
    scroller.style.setProperty('--columns', tracks.join(' '));
    // The same for all rows, whatever they hold: else their columns would not stand in line.
    scroller.style.setProperty('--least', `${tracks.reduce((sum, track) => sum + leastOf(track), 0)}px`);
  });
  createEffect(() => {
    if (props.grow === undefined) return;
    const rows = Math.max(1, Math.min(items().length, props.grow));
    scroller.style.height = `${rows * rowHeight() + headHeight() + 2}px`;
  });

  const place = createMemo(() => (current() === null ? -1 : items().findIndex((item) => itemName(item) === current())));
  const goTo = (to: number) => {
    const item = items()[Math.max(0, Math.min(to, items().length - 1))];
    if (item === undefined) return;
    setCurrent(itemName(item));
    const top = Math.max(0, Math.min(to, items().length - 1)) * rowHeight();
    const room = size().height - headHeight();
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + rowHeight() > scroller.scrollTop + room) scroller.scrollTop = top + rowHeight() - room;
  };
  const toggleGroup = (name: string) =>
    setClosed((before) => {
      const next = new Set(before);
      if (!next.delete(name)) next.add(name);
      return next;
    });
  const toggleRow = (key: string) => {
    if (!props.onSelect) return;
    const next = new Set(props.selected ?? []);
    if (!next.delete(key)) next.add(key);
    props.onSelect(next);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target !== scroller && event.key !== 'j' && event.key !== 'k') return;
    const at = place();
    const item = items()[at];
    const page = Math.max(1, Math.floor((size().height - headHeight()) / rowHeight()) - 1);
    const moves: Record<string, number> = {
      j: at + 1, ArrowDown: at + 1, k: at - 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0,
      End: items().length - 1,
    };
    const to = moves[event.key];
    if (to !== undefined) goTo(to);
    else if (item === undefined) return;
    else if (event.key === 'Enter') {
      if (item.kind === 'group') toggleGroup(item.key);
      else props.onOpen?.(item.row);
    } else if (event.key === ' ' || event.key === 'x') {
      if (item.kind === 'group') toggleGroup(item.key);
      else toggleRow(props.rowKey(item.row));
    } else if (item.kind === 'group' && event.key === 'ArrowLeft' && item.open) toggleGroup(item.key);
    else if (item.kind === 'group' && event.key === 'ArrowRight' && !item.open) toggleGroup(item.key);
    else return;
    event.preventDefault();
  };
  const sortBy = (column: Column<T>) =>
    setSorting((before) =>
      before?.column === column.id ? { column: column.id, descending: !before.descending } : { column: column.id, descending: false },
    );
  const sortWord = (column: Column<T>) =>
    sorting()?.column === column.id ? (sorting()?.descending ? 'descending' : 'ascending') : column.value ? 'none' : undefined;
  const all = () => props.rows.length > 0 && props.rows.every((row) => props.selected?.has(props.rowKey(row)));
  const choose = (column: Column<T>) => {
    const next = new Set(chosen());
    if (!next.delete(column.id)) next.add(column.id);
    setChosen(next);
    remember(`pollux.columns.${props.id}`, [...next].join(' '));
  };

  const row = (slot: { item: () => Item<T>; place: () => number }) => {
    const name = itemName(untrack(slot.item));
    const style = () => ({ transform: `translateY(${slot.place() * rowHeight()}px)`, height: `${rowHeight()}px` });
    const first = untrack(slot.item);
    if (first.kind === 'group') {
      const group = () => slot.item() as Extract<Item<T>, { kind: 'group' }>;
      return (
        <div
          id={`${base}-${slot.place()}`}
          class="table-row group"
          classList={{ current: current() === name }}
          style={style()}
          role="row"
          aria-rowindex={slot.place() + 2}
          aria-expanded={group().open}
          onClick={() => (setCurrent(name), toggleGroup(group().key))}
        >
          <div class="sticky" role="gridcell">
            <Icon name={group().open ? 'down' : 'right'} />
            {props.groupHead?.(group().key, group().rows) ?? (
              <>
                <span>{group().key === '' ? 'none' : group().key}</span>
                <span class="muted">{group().rows.length}</span>
              </>
            )}
          </div>
        </div>
      );
    }
    const entry = () => (slot.item() as Extract<Item<T>, { kind: 'row' }>).row;
    const picked = () => props.selected?.has(props.rowKey(entry())) === true;
    const pick = () => (
      <Show when={props.onSelect}>
        <div class="table-cell pick" role="gridcell" onClick={(event) => event.stopPropagation()}>
          {/* The whole cell is what a finger has to meet. */}
          <label>
            <input type="checkbox" checked={picked()} tabindex={-1} aria-label={`Select ${props.rowKey(entry())}`} onChange={() => toggleRow(props.rowKey(entry()))} />
          </label>
        </div>
      </Show>
    );
    return (
      <div
        id={`${base}-${slot.place()}`}
        class="table-row"
        classList={{ current: current() === name, selected: picked(), opens: props.onOpen !== undefined, card: cards(), picks: props.onSelect !== undefined }}
        style={style()}
        role="row"
        aria-rowindex={slot.place() + 2}
        aria-selected={props.onSelect ? picked() : undefined}
        onClick={(event) => {
          setCurrent(name);
          if ((event.target as Element).closest('a, button, input') === null && getSelection()?.toString() === '') props.onOpen?.(entry());
        }}
      >
        <Show
          when={!cards()}
          fallback={<>{pick()}<div class="table-card" role="gridcell">{(props.track?.(entry()), props.card?.(entry()))}</div></>}
        >
          {pick()}
          <For each={columns()}>
            {(column) => (
              <div class="table-cell" classList={{ end: column.end === true }} role="gridcell">
                {(props.track?.(entry()), column.cell(entry()))}
              </div>
            )}
          </For>
        </Show>
      </div>
    );
  };

  const selectAll = () => (
    <Show when={props.onSelect}>
      {(select) => (
        <input
          type="checkbox"
          aria-label="Select all shown"
          checked={all()}
          onChange={(event) => select()(event.currentTarget.checked ? new Set(props.rows.map(props.rowKey)) : new Set())}
        />
      )}
    </Show>
  );
  return (
    <div class="table">
      <div
        ref={scroller}
        class="table-scroll"
        classList={{ grows: props.grow !== undefined }}
        role={props.groups ? 'treegrid' : 'grid'}
        tabindex={0}
        aria-label={props.label}
        aria-rowcount={items().length + 1}
        aria-multiselectable={props.onSelect ? true : undefined}
        aria-activedescendant={place() < 0 ? undefined : `${base}-${place()}`}
        data-table={props.id}
        onScroll={() => setScroll(scroller.scrollTop)}
        onKeyDown={keys}
      >
        <Show when={!cards()}>
          <div class="table-head" role="row" aria-rowindex={1}>
            <Show when={props.onSelect}><div class="table-title pick" role="columnheader">{selectAll()}</div></Show>
            <For each={columns()}>
              {(column) => (
                <div class="table-title" classList={{ end: column.end === true }} role="columnheader" aria-sort={sortWord(column)} title={column.help}>
                  <Show when={column.value} fallback={column.title}>
                    <button type="button" onClick={() => sortBy(column)}>
                      {column.title}
                      <Show when={sorting()?.column === column.id}>
                        <Icon name={sorting()?.descending ? 'down' : 'up'} size={12} />
                      </Show>
                    </button>
                  </Show>
                </div>
              )}
            </For>
          </div>
        </Show>
        <div class="table-body" classList={{ cards: cards() }} role="rowgroup" style={{ height: `${items().length * rowHeight()}px` }}>
          <For each={visible()}>{row}</For>
        </div>
        <Show when={props.rows.length === 0}><div role="row"><div role="gridcell">{props.empty}</div></div></Show>
      </div>
      <div class="table-foot">
        <Show when={cards() && props.onSelect}><label class="table-all">{selectAll()}</label></Show>
        <span>{props.total !== undefined && props.total !== props.rows.length ? `${count(props.rows.length)} of ` : ''}{plural(props.total ?? props.rows.length, props.noun ?? 'row')}</span>
        {props.foot}
        <span class="spring" />
        <Show when={!cards()} fallback={<CardOrder columns={props.columns} now={sorting()} choose={setSorting} />}>
          <Menu
            label="Choose columns"
            kind="quiet"
            icon="columns"
            dense
            bare
            align="end"
            entries={() =>
              props.columns
                .filter((column) => column.fixed !== true)
                .map((column) => ({ label: column.help ?? column.title, checked: chosen().has(column.id), keepOpen: true, run: () => choose(column) }))
            }
          />
        </Show>
      </div>
    </div>
  );
}

/** Cards have no titles to click at: what they are sorted by is chosen below them. */
function CardOrder<T>(props: { columns: readonly Column<T>[]; now: Sorting | null; choose: (sorting: Sorting | null) => void }): JSX.Element {
  const sortable = () => props.columns.filter((column) => column.value !== undefined);
  const pick = (column: string) => props.choose(column === '' ? null : { column, descending: props.now?.descending ?? false });
  return (
    <Show when={sortable().length > 0}>
      <span class="table-order">
        <select class="input" aria-label="Order by" value={props.now?.column ?? ''} onChange={(event) => pick(event.currentTarget.value)}>
          <option value="">as it comes</option>
          <For each={sortable()}>{(column) => <option value={column.id} selected={column.id === props.now?.column}>{column.title}</option>}</For>
        </select>
        <Show when={props.now}>
          {(now) => (
            <Button dense bare kind="quiet" icon={now().descending ? 'down' : 'up'} label={now().descending ? 'Falling; turn around' : 'Rising; turn around'} onClick={() => props.choose({ ...now(), descending: !now().descending })} />
          )}
        </Show>
      </span>
    </Show>
  );
}

function itemName<T>(item: Item<T>): string {
  return `${item.kind} ${item.key}`;
}

function sameItem<T>(a: Item<T>, b: Item<T>): boolean {
  if (a.kind === 'row') return b.kind === 'row' && a.row === b.row;
  return b.kind === 'group' && a.open === b.open && a.rows.length === b.rows.length && a.rows.every((row, at) => row === b.rows[at]);
}

/** Pixels a track needs at least: "120px", "minmax(160px, 2fr)". */
function leastOf(track: string): number {
  return Number(/(\d+)px/.exec(track)?.[1] ?? 80);
}

function choice<T>(props: TableProps<T>): ReadonlySet<string> {
  const kept = remembered(`pollux.columns.${props.id}`);
  if (kept !== null) return new Set(kept.split(' '));
  return new Set(props.columns.filter((column) => column.hidden !== true).map((column) => column.id));
}
