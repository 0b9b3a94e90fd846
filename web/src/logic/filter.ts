// The filter language of tables:
//
//   state:down,stale addon:snmp* label.site=berlin -group:lab lag>1s "core switch"
//
// Terms are joined by AND; a comma inside a value is OR; `-` in front negates. `:` compares words
// whole and texts in part, `*` stands for anything, `=` compares whole; `> >= < <=` compare numbers
// and durations. What has no field is looked for in the text of the row. Letters of both cases are
// the same.

export type FilterOperator = ':' | '=' | '>' | '>=' | '<' | '<=';

export interface FilterTerm {
  /** Empty: the text of the row. */
  field: string;
  operator: FilterOperator;
  values: string[];
  negated: boolean;
}

export interface Filter {
  terms: FilterTerm[];
  /** What is wrong with it, in words; the terms that could be read still hold. */
  problems: string[];
}

export interface FilterField<T> {
  name: string;
  /** One line for the type-ahead. */
  help: string;
  /** `word`: compared whole; `text`: a part is enough; `number`: compared by size. */
  kind: 'word' | 'text' | 'number';
  /** Values of a row; several when it has several (groups). */
  read: (row: T) => string | number | null | undefined | readonly string[];
  /** Proposals of the type-ahead. */
  values?: () => readonly string[];
}

export interface FilterSchema<T> {
  fields: readonly FilterField<T>[];
  /** The text that words without a field are looked for in. */
  text: (row: T) => string;
  /** `label.site`: the value of a label; and the names for the type-ahead. */
  label?: (row: T, name: string) => string | undefined;
  labels?: () => readonly string[];
  labelValues?: (name: string) => readonly string[];
}

export interface Token {
  text: string;
  start: number;
  end: number;
}

/** Splits at spaces; quotes hold a text together. */
export function tokens(source: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  while (at < source.length) {
    while (at < source.length && isSpace(source[at])) at += 1;
    if (at >= source.length) break;
    const start = at;
    let quoted = false;
    while (at < source.length && (quoted || !isSpace(source[at]))) {
      if (source[at] === '"') quoted = !quoted;
      at += 1;
    }
    found.push({ text: source.slice(start, at), start, end: at });
  }
  return found;
}

function isSpace(letter: string | undefined): boolean {
  return letter !== undefined && /\s/.test(letter);
}

const kTerm = /^([a-z_][\w.-]*?)(>=|<=|[:=<>])(.*)$/is;

export function parseTerm(source: string): FilterTerm | null {
  let text = source;
  let negated = false;
  if (text.startsWith('-') && text.length > 1) {
    negated = true;
    text = text.slice(1);
  }
  const parts = text.startsWith('"') ? null : kTerm.exec(text);
  if (parts === null) {
    const words = text.replaceAll('"', '');
    return words === '' ? null : { field: '', operator: ':', values: [words], negated };
  }
  const [, field = '', operator = ':', value = ''] = parts;
  const values = splitValues(value);
  return { field, operator: operator as FilterOperator, values, negated };
}

function splitValues(text: string): string[] {
  const values: string[] = [];
  let now = '';
  let quoted = false;
  for (const letter of text) {
    if (letter === '"') quoted = !quoted;
    else if (letter === ',' && !quoted) {
      values.push(now);
      now = '';
    } else now += letter;
  }
  values.push(now);
  return values.filter((value) => value !== '');
}

export function parseFilter(source: string, known?: readonly string[]): Filter {
  const filter: Filter = { terms: [], problems: [] };
  for (const token of tokens(source)) {
    const term = parseTerm(token.text);
    if (term === null) continue;
    if (term.field !== '' && known !== undefined && !isKnown(term.field, known)) {
      filter.problems.push(`there is no field “${term.field}”; there are ${known.join(', ')}`);
      continue;
    }
    if (term.field !== '' && term.values.length === 0) continue; // still being typed
    if ('<>'.includes(term.operator[0] ?? '') && term.values.some((v) => quantity(v) === null)) {
      filter.problems.push(`“${token.text}” needs a number or a duration such as 90, 1.5s, 5m`);
      continue;
    }
    filter.terms.push(term);
  }
  return filter;
}

function isKnown(field: string, known: readonly string[]): boolean {
  return known.includes(field.toLowerCase()) || /^label\../i.test(field);
}

const kUnits: Record<string, number> = {
  '': 1, us: 1e-6, ms: 1e-3, s: 1, m: 60, min: 60, h: 3600, d: 86400, k: 1e3, '%': 1,
};

/** A number, or a duration in seconds: "90", "1.5s", "5m". */
export function quantity(text: string): number | null {
  const parts = /^(-?\d+(?:\.\d+)?)\s*([a-z%]*)$/i.exec(text.trim());
  if (parts === null) return null;
  const unit = kUnits[(parts[2] ?? '').toLowerCase()];
  return unit === undefined ? null : Number(parts[1]) * unit;
}

type Test = (text: string) => boolean;

function glob(pattern: string): Test {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  const expression = new RegExp(`^${parts.join('.*')}$`, 'is');
  return (text) => expression.test(text);
}

function textTest(value: string, whole: boolean): Test {
  if (value.includes('*')) return glob(value);
  const wanted = value.toLowerCase();
  return whole
    ? (text) => text.toLowerCase() === wanted
    : (text) => text.toLowerCase().includes(wanted);
}

function numberTest(operator: FilterOperator, bound: number): (value: number) => boolean {
  switch (operator) {
    case '>':
      return (value) => value > bound;
    case '>=':
      return (value) => value >= bound;
    case '<':
      return (value) => value < bound;
    case '<=':
      return (value) => value <= bound;
    default:
      return (value) => value === bound;
  }
}

/** One function that tells whether a row is wanted; built once per filter, run per row. */
export function compileFilter<T>(filter: Filter, schema: FilterSchema<T>): (row: T) => boolean {
  const tests = filter.terms.map((term) => compileTerm(term, schema));
  if (tests.length === 0) return () => true;
  return (row) => tests.every((test) => test(row));
}

function compileTerm<T>(term: FilterTerm, schema: FilterSchema<T>): (row: T) => boolean {
  const test = positiveTest(term, schema);
  return term.negated ? (row) => !test(row) : test;
}

function positiveTest<T>(term: FilterTerm, schema: FilterSchema<T>): (row: T) => boolean {
  if (term.field === '') {
    const tests = term.values.map((value) => textTest(containing(value), false));
    return (row) => {
      const text = schema.text(row);
      return tests.some((test) => test(text));
    };
  }
  const name = term.field.toLowerCase();
  if (name.startsWith('label.')) {
    const label = term.field.slice('label.'.length);
    const tests = term.values.map((value) => textTest(value, true));
    return (row) => {
      const value = schema.label?.(row, label);
      return value !== undefined && tests.some((test) => test(value));
    };
  }
  const field = schema.fields.find((one) => one.name === name);
  if (field === undefined) return () => true;
  if (field.kind === 'number') {
    const tests = term.values.map((value) => numberTest(term.operator, quantity(value) ?? Number.NaN));
    return (row) => {
      const value = field.read(row);
      return typeof value === 'number' && tests.some((test) => test(value));
    };
  }
  const whole = field.kind === 'word' || term.operator === '=';
  const tests = term.values.map((value) => textTest(value, whole));
  return (row) => {
    const value = field.read(row);
    if (value === null || value === undefined) return false;
    if (typeof value === 'string') return tests.some((test) => test(value));
    if (typeof value === 'number') return tests.some((test) => test(String(value)));
    return value.some((one) => tests.some((test) => test(one)));
  };
}

/** A bare word with `*` is looked for anywhere in the text, not over the whole of it. */
function containing(value: string): string {
  return value.includes('*') ? `*${value}*` : value;
}

export interface Suggestion {
  /** What the whole input becomes. */
  text: string;
  /** Where the cursor stands then. */
  cursor: number;
  label: string;
  help: string;
}

/** Proposals for the word under the cursor; at most `limit`. */
export function suggest<T>(
  source: string,
  cursor: number,
  schema: FilterSchema<T>,
  limit = 8,
): Suggestion[] {
  const token = tokens(source).find((one) => one.start <= cursor && cursor <= one.end) ?? {
    text: '',
    start: cursor,
    end: cursor,
  };
  const dash = token.text.startsWith('-') ? '-' : '';
  const body = token.text.slice(dash.length, cursor - token.start);
  const make = (text: string, label: string, help: string, open: boolean): Suggestion => {
    const before = source.slice(0, token.start) + dash + text + (open ? '' : ' ');
    return { text: before + source.slice(token.end).trimStart(), cursor: before.length, label, help };
  };
  const parts = kTerm.exec(body);
  if (parts === null) {
    const wanted = body.toLowerCase();
    const found = schema.fields
      .filter((field) => field.name.startsWith(wanted))
      .map((field) => make(fieldStart(field), fieldStart(field), field.help, true));
    for (const label of schema.labels?.() ?? []) {
      const name = `label.${label}`;
      if (wanted !== '' && name.toLowerCase().startsWith(wanted)) {
        found.push(make(`${name}=`, `${name}=`, 'a label', true));
      }
    }
    return found.slice(0, limit);
  }
  const [, field = '', operator = ':', typed = ''] = parts;
  const comma = typed.lastIndexOf(',') + 1;
  const wanted = typed.slice(comma).replaceAll('"', '').toLowerCase();
  const values = field.toLowerCase().startsWith('label.')
    ? (schema.labelValues?.(field.slice('label.'.length)) ?? [])
    : (schema.fields.find((one) => one.name === field.toLowerCase())?.values?.() ?? []);
  const head = `${field}${operator}${typed.slice(0, comma)}`;
  const ranked = values
    .filter((value) => value.toLowerCase().includes(wanted))
    .sort((a, b) => Number(!a.toLowerCase().startsWith(wanted)) - Number(!b.toLowerCase().startsWith(wanted)));
  return ranked.slice(0, limit).map((value) => make(head + quote(value), value, '', false));
}

function fieldStart<T>(field: FilterField<T>): string {
  return field.name + (field.kind === 'number' ? '>' : ':');
}

/** A term that holds the value as it is, with spaces and commas: label.site="New York". */
export function termOf(field: string, operator: ':' | '=', value: string): string {
  return `${field}${operator}${quote(value)}`;
}

function quote(value: string): string {
  return /[\s,"]/.test(value) ? `"${value.replaceAll('"', '')}"` : value;
}

/** The source with a term added, or taken away when it stands there already. */
export function toggleTerm(source: string, term: string): string {
  const all = tokens(source).map((token) => token.text);
  const rest = all.filter((text) => text !== term);
  return (rest.length === all.length ? [...all, term] : rest).join(' ');
}
