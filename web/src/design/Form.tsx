// Fields of forms: label, help, the error of this field from a problem of the API, and a note when the
// value comes from somewhere else and cannot be changed here.
import { createUniqueId, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import type { Problem } from '../api/problem';
import { sentence } from '../logic/format';
import { Icon } from './Icon';
import './form.css';

export interface FieldProps {
  label: string;
  help?: JSX.Element;
  /** Usually problem()?.field('/address'). */
  error?: string | undefined;
  /** "set by the environment (POLLUX_API_LISTEN)": shown with a lock. */
  locked?: string | undefined;
  /** Where the value comes from, when that is worth telling. */
  origin?: string | undefined;
}

interface Wiring {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': 'true' | undefined;
  disabled: boolean;
}

/** For a control of your own: <Field label="…">{(wiring) => <input {...wiring} />}</Field> */
export function Field(props: FieldProps & { children: (wiring: Wiring) => JSX.Element }): JSX.Element {
  const id = createUniqueId();
  const described = () =>
    [props.help ? `${id}-help` : '', props.error ? `${id}-error` : '', props.locked ? `${id}-note` : '']
      .filter((one) => one !== '')
      .join(' ') || undefined;
  const wiring: Wiring = {
    id,
    get 'aria-describedby'() {
      return described();
    },
    get 'aria-invalid'() {
      return props.error ? ('true' as const) : undefined;
    },
    get disabled() {
      return props.locked !== undefined;
    },
  };
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.children(wiring)}
      <FieldNotes id={id} {...props} />
    </div>
  );
}

function FieldNotes(props: FieldProps & { id: string }): JSX.Element {
  return (
    <>
      <Show when={props.error}>
        <div class="error" id={`${props.id}-error`}><Icon name="warning" size={13} /><span>{sentence(props.error ?? '')}</span></div>
      </Show>
      <Show when={props.locked}>
        <div class="note" id={`${props.id}-note`}><Icon name="lock" size={13} /><span>{props.locked}</span></div>
      </Show>
      <Show when={props.help}><div class="help" id={`${props.id}-help`}>{props.help}</div></Show>
      <Show when={props.origin}><div class="help">From: {props.origin}</div></Show>
    </>
  );
}

export interface TextFieldProps extends FieldProps {
  value: string;
  onInput: (value: string) => void;
  type?: 'text' | 'password' | 'email' | 'url' | 'search' | 'datetime-local';
  placeholder?: string;
  autocomplete?: string;
  mono?: boolean;
  autofocus?: boolean;
  list?: readonly string[];
  name?: string;
}

export function TextField(props: TextFieldProps): JSX.Element {
  const list = createUniqueId();
  return (
    <Field {...props}>
      {(wiring) => (
        <>
          <input
            {...wiring}
            class="input"
            classList={{ mono: props.mono === true }}
            type={props.type ?? 'text'}
            name={props.name}
            value={props.value}
            placeholder={props.placeholder}
            autocomplete={props.autocomplete ?? 'off'}
            spellcheck={false}
            data-autofocus={props.autofocus ? '' : undefined}
            list={props.list ? list : undefined}
            onInput={(event) => props.onInput(event.currentTarget.value)}
          />
          <Show when={props.list}>
            {(values) => <datalist id={list}><For each={values()}>{(value) => <option value={value} />}</For></datalist>}
          </Show>
        </>
      )}
    </Field>
  );
}

/** NaN while what is typed is no number. */
export function NumberField(
  props: FieldProps & { value: number | null; onInput: (value: number | null) => void; min?: number; max?: number; step?: number; unit?: string },
): JSX.Element {
  return (
    <Field {...props} label={props.unit ? `${props.label} (${props.unit})` : props.label}>
      {(wiring) => (
        <input
          {...wiring}
          class="input"
          type="number"
          value={props.value ?? ''}
          min={props.min}
          max={props.max}
          step={props.step ?? 'any'}
          onInput={(event) => props.onInput(event.currentTarget.value === '' ? null : event.currentTarget.valueAsNumber)}
        />
      )}
    </Field>
  );
}

export interface Choice {
  value: string;
  label: string;
}

export function SelectField(
  props: FieldProps & { value: string; onChange: (value: string) => void; choices: readonly (Choice | string)[] },
): JSX.Element {
  const choices = () => props.choices.map((one) => (typeof one === 'string' ? { value: one, label: one } : one));
  return (
    <Field {...props}>
      {(wiring) => (
        <select {...wiring} class="input" value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
          <For each={choices()}>{(one) => <option value={one.value} selected={one.value === props.value}>{one.label}</option>}</For>
        </select>
      )}
    </Field>
  );
}

export function TextAreaField(
  props: FieldProps & { value: string; onInput: (value: string) => void; rows?: number; mono?: boolean; placeholder?: string },
): JSX.Element {
  return (
    <Field {...props}>
      {(wiring) => (
        <textarea
          {...wiring}
          class="input"
          classList={{ mono: props.mono === true }}
          rows={props.rows ?? 4}
          value={props.value}
          placeholder={props.placeholder}
          spellcheck={false}
          onInput={(event) => props.onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export function CheckField(props: FieldProps & { value: boolean; onChange: (value: boolean) => void }): JSX.Element {
  const id = createUniqueId();
  return (
    <div class="field">
      <div class="check">
        <input
          id={id}
          type="checkbox"
          checked={props.value}
          disabled={props.locked !== undefined}
          aria-describedby={props.help ? `${id}-help` : undefined}
          onChange={(event) => props.onChange(event.currentTarget.checked)}
        />
        <label for={id}>{props.label}</label>
      </div>
      <FieldNotes id={id} {...props} />
    </div>
  );
}

/** Above the fields: the problem itself and the mistakes that belong to none of them. */
export function FormErrors(props: { problem: Problem | null; fields?: readonly string[] }): JSX.Element {
  return (
    <Show when={props.problem}>
      {(problem) => {
        const others = () => problem().others(props.fields ?? []);
        const marked = () => problem().errors.length > 0 && others().length === 0;
        return (
          <div class="form-errors" role="alert">
            <strong>{marked() ? 'Something is wrong with the marked fields.' : sentence(problem().message)}</strong>
            <For each={others()}>
              {(one) => <span><code>{one.pointer ?? one.parameter ?? ''}</code> {one.detail}{one.line === undefined ? '' : ` (line ${one.line})`}</span>}
            </For>
          </div>
        );
      }}
    </Show>
  );
}
