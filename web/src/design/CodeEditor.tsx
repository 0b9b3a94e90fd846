// A plain editor for texts with lines: numbers, marks at lines with mistakes, and the mistakes below as
// links to their lines. It is a text area, so that everything works that people and their tools know.
import { createMemo, createSignal, createUniqueId, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { plural } from '../logic/format';
import { Icon } from './Icon';
import './code_editor.css';
import './form.css';

export interface CodeProblem {
  /** Null: it is about the whole. */
  line: number | null;
  text: string;
}

/** <CodeEditor label="Manifest" value={text()} onInput={setText} problems={mistakes()} rows={24} /> */
export function CodeEditor(props: {
  label: string;
  value: string;
  onInput: (value: string) => void;
  problems?: readonly CodeProblem[];
  rows?: number;
  placeholder?: string;
  readonly?: boolean;
  help?: JSX.Element;
  /** Where the cursor is, from 1. */
  onLine?: (line: number) => void;
  /** Ctrl+Enter. */
  onCheck?: () => void;
}): JSX.Element {
  const id = createUniqueId();
  const [scroll, setScroll] = createSignal(0);
  let area!: HTMLTextAreaElement;
  const problems = () => props.problems ?? [];
  const lines = createMemo(() => props.value.split('\n').length);
  const numbers = createMemo(() => Array.from({ length: lines() }, (_, index) => index + 1).join('\n'));
  const marked = createMemo(() => [...new Set(problems().flatMap((one) => (one.line === null ? [] : [one.line])))]);
  const tellLine = () => props.onLine?.(area.value.slice(0, area.selectionStart).split('\n').length);
  const goTo = (line: number) => {
    const before = area.value.split('\n').slice(0, line - 1).join('\n').length;
    const start = line === 1 ? 0 : before + 1;
    const end = area.value.indexOf('\n', start);
    area.focus();
    area.setSelectionRange(start, end < 0 ? area.value.length : end);
    const height = Number.parseFloat(getComputedStyle(area).lineHeight);
    area.scrollTop = Math.max(0, (line - 4) * height);
    tellLine();
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      props.onCheck?.();
    } else if (event.key === 'Enter' && !event.shiftKey && props.readonly !== true) {
      // The next line begins where this one does; undo keeps working.
      const line = area.value.slice(0, area.selectionStart).split('\n').pop() ?? '';
      const indent = /^ */.exec(line)?.[0] ?? '';
      if (indent === '' || !document.execCommand) return;
      event.preventDefault();
      document.execCommand('insertText', false, `\n${indent}`);
    }
  };
  return (
    <div class="code-editor">
      <label class="code-label" for={id}>{props.label}</label>
      <div class="code-frame" classList={{ wrong: problems().length > 0 }}>
        <div class="code-gutter" aria-hidden="true">
          <div class="code-numbers" style={{ transform: `translateY(${-scroll()}px)` }}>
            <For each={marked()}>{(line) => <span class="code-mark" style={{ top: `calc(${line - 1} * var(--code-line))` }} />}</For>
            <pre>{numbers()}</pre>
          </div>
        </div>
        <textarea
          ref={area}
          id={id}
          class="code-area"
          rows={props.rows ?? 20}
          wrap="off"
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          readOnly={props.readonly === true}
          aria-invalid={problems().length > 0 ? 'true' : undefined}
          aria-describedby={`${id}-notes`}
          placeholder={props.placeholder}
          value={props.value}
          onInput={(event) => (props.onInput(event.currentTarget.value), tellLine())}
          onScroll={() => setScroll(area.scrollTop)}
          onKeyDown={keys}
          onKeyUp={tellLine}
          onClick={tellLine}
        />
      </div>
      <div id={`${id}-notes`} class="code-notes">
        <Show when={problems().length > 0} fallback={<Show when={props.help}><div class="muted small">{props.help}</div></Show>}>
          <div class="code-problems" role="status">
            <strong>{plural(problems().length, 'mistake')}</strong>
            <ul class="icon-lines">
              <For each={problems()}>
                {(one) => (
                  <li>
                    <Icon name="warning" size={13} />
                    <Show when={one.line} fallback={<span>{one.text}</span>}>
                      {(line) => <><button type="button" onClick={() => goTo(line())}>line {line()}</button> <span>{one.text}</span></>}
                    </Show>
                  </li>
                )}
              </For>
            </ul>
          </div>
        </Show>
      </div>
    </div>
  );
}
