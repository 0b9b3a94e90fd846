// A list of what fails: its number, a filter, what can be done with many, and the table.
import { createEffect, createMemo, createSignal, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { query, setQuery } from '../../app/router';
import { Badge, EmptyState, FilterInput, Table } from '../../design';
import type { Column } from '../../design';
import { compileFilter, parseFilter } from '../../logic/filter';
import type { FilterSchema } from '../../logic/filter';
import { count } from '../../logic/format';
import { keepRows } from '../../logic/keep_rows';
import { KeyLink } from './Plan';

interface Failing {
  key: string;
  lastError?: string;
  code?: string;
}

/** What of a list is shown and chosen now. */
export interface View<T> {
  rows: () => readonly T[];
  selected: () => ReadonlySet<string>;
  filtered: () => boolean;
}

export interface FailureSectionProps<T extends Failing> {
  id: string;
  title: string;
  noun: string;
  rows: readonly T[];
  schema: FilterSchema<T>;
  /** Name of its filter in the address. */
  filter: string;
  placeholder: string;
  columns: readonly Column<T>[];
  card: (row: T) => JSX.Element;
  onOpen: (row: T) => void;
  acts: (view: View<T>) => JSX.Element;
  none: { title: string; text: string };
}

export function keyColumn<T extends Failing>(): Column<T> {
  return { id: 'key', title: 'Task', width: 'minmax(180px, 2fr)', fixed: true, cell: (row) => <KeyLink task={row.key} />, value: (row) => row.key };
}

export function errorColumns<T extends Failing>(): Column<T>[] {
  return [
    { id: 'error', title: 'Last error', width: 'minmax(220px, 3fr)', cell: (row) => <span title={row.lastError}>{row.lastError ?? '–'}</span>, value: (row) => row.lastError },
    { id: 'code', title: 'Code', width: '160px', hidden: true, cell: (row) => <code>{row.code}</code>, value: (row) => row.code },
  ];
}

/** Selected keys that are still there. */
function selection<T extends Failing>(rows: () => readonly T[]) {
  const [selected, setSelected] = createSignal<ReadonlySet<string>>(new Set());
  createEffect(() => {
    const there = new Set(rows().map((row) => row.key));
    setSelected((before) => {
      const left = [...before].filter((key) => there.has(key));
      return left.length === before.size ? before : new Set(left);
    });
  });
  return [selected, setSelected] as const;
}

export function FailureSection<T extends Failing>(props: FailureSectionProps<T>): JSX.Element {
  const filter = () => query(props.filter);
  const wanted = createMemo(() => compileFilter(parseFilter(filter()), props.schema));
  const rows = createMemo<readonly T[]>((before) => keepRows(before, props.rows.filter(wanted()), (row) => row.key), []);
  const [selected, setSelected] = selection(rows);
  const view: View<T> = { rows, selected, filtered: () => filter() !== '' };
  return (
    <section class="stack" aria-label={props.title}>
      <div class="row">
        <h2>{props.title}</h2>
        <Badge tone={props.rows.length > 0 ? 'bad' : 'ok'}>{count(props.rows.length)}</Badge>
        <span class="spring" />
        <Show when={props.rows.length > 0}>
          <div class="scheduler-filter"><FilterInput label={`Filter ${props.title.toLowerCase()}`} placeholder={props.placeholder} schema={props.schema} value={filter()} onInput={(text) => setQuery({ [props.filter]: text })} /></div>
          {props.acts(view)}
        </Show>
      </div>
      <Show when={props.rows.length > 0} fallback={<div class="panel"><EmptyState icon="check" title={props.none.title} text={props.none.text} /></div>}>
        <Table
          id={props.id}
          label={props.title}
          noun={props.noun}
          grow={12}
          columns={props.columns}
          rows={rows()}
          rowKey={(row) => row.key}
          onOpen={props.onOpen}
          selected={selected()}
          onSelect={setSelected}
          cardHeight={86}
          card={(row) => (
            <div class="scheduler-card">
              {props.card(row)}
              <span class="small cut">{row.lastError}</span>
            </div>
          )}
          empty={<p class="muted panel-body">No {props.noun} is like this filter.</p>}
        />
      </Show>
    </section>
  );
}
