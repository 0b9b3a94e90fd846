import { createMemo, createSignal, createUniqueId, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { parseFilter, suggest } from '../logic/filter';
import type { FilterSchema, Suggestion } from '../logic/filter';
import { Button } from './Button';
import { Icon } from './Icon';
import './filter_input.css';

/** <FilterInput schema={kFleetFilter} value={text()} onInput={setText} label="Filter targets" /> */
export function FilterInput<T>(props: {
  schema: FilterSchema<T>;
  value: string;
  onInput: (value: string) => void;
  label: string;
  placeholder?: string;
}): JSX.Element {
  const list = createUniqueId();
  const [open, setOpen] = createSignal(false);
  const [at, setAt] = createSignal(-1);
  const [cursor, setCursor] = createSignal(0);
  let input!: HTMLInputElement;
  const found = createMemo<Suggestion[]>(() => (open() ? suggest(props.value, Math.min(cursor(), props.value.length), props.schema) : []));
  const problems = createMemo(() => parseFilter(props.value, props.schema.fields.map((field) => field.name)).problems);
  const take = (one: Suggestion) => {
    props.onInput(one.text);
    input.value = one.text;
    input.setSelectionRange(one.cursor, one.cursor);
    setCursor(one.cursor);
    setAt(-1);
    input.focus();
  };
  const keys = (event: KeyboardEvent) => {
    event.stopPropagation();
    const all = found();
    if (event.key === 'ArrowDown' && all.length > 0) setAt((at() + 1) % all.length);
    else if (event.key === 'ArrowUp' && all.length > 0) setAt(at() <= 0 ? all.length - 1 : at() - 1);
    else if ((event.key === 'Enter' || event.key === 'Tab') && at() >= 0 && all[at()]) take(all[at()] as Suggestion);
    else if (event.key === 'Enter') setOpen(false);
    else if (event.key === 'Escape' && open()) setOpen(false);
    else if (event.key === 'Escape') input.blur();
    else return;
    event.preventDefault();
  };
  return (
    <div class="filter-input">
      <Icon name="search" />
      <input
        ref={input}
        class="input"
        type="text"
        role="combobox"
        aria-label={props.label}
        aria-expanded={found().length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={at() >= 0 ? `${list}-${at()}` : undefined}
        aria-invalid={problems().length > 0 ? 'true' : undefined}
        placeholder={props.placeholder ?? 'state:down addon:snmp* label.site=berlin -group:lab text'}
        autocomplete="off"
        spellcheck={false}
        data-filter=""
        value={props.value}
        onInput={(event) => {
          setCursor(event.currentTarget.selectionStart ?? 0);
          setAt(-1);
          setOpen(true);
          props.onInput(event.currentTarget.value);
        }}
        onFocus={() => setOpen(true)}
        onClick={() => (setCursor(input.selectionStart ?? 0), setOpen(true))}
        onBlur={() => setTimeout(() => setOpen(false), 120)}
        onKeyDown={keys}
      />
      <Show when={props.value !== ''}>
        <Button kind="quiet" icon="close" bare dense label="Clear the filter" onClick={() => (props.onInput(''), input.focus())} />
      </Show>
      <div class="suggestions popup" id={list} role="listbox" aria-label="Proposals" hidden={found().length === 0}>
        <For each={found()}>
          {(one, index) => (
            <div
              class="suggestion"
              id={`${list}-${index()}`}
              role="option"
              aria-selected={index() === at()}
              onMouseDown={(event) => (event.preventDefault(), take(one))}
            >
              <code>{one.label}</code>
              <span class="muted small">{one.help}</span>
            </div>
          )}
        </For>
      </div>
      <Show when={problems()[0]}>{(text) => <div class="filter-problem" role="status">{text()}</div>}</Show>
    </div>
  );
}
