// Reads YAML as people write it by hand, and JSON, into plain values that know their lines: maps, lists,
// quoted and plain texts, block texts, comments. Anchors, tags and several documents are refused with a
// word about it: a reader that guesses would do something else than the person meant.

export type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain };

export interface YamlProblem {
  line: number;
  text: string;
}

export interface YamlResult {
  value: Plain;
  /** Line of each value by its JSON pointer: "/jobs/0/type" -> 4. */
  lines: ReadonlyMap<string, number>;
  problem: YamlProblem | null;
}

const kMostBytes = 4 << 20;
const kMostDepth = 64;

export function parseYaml(source: string): YamlResult {
  const lines = new Map<string, number>();
  if (source.length > kMostBytes) return { value: null, lines, problem: { line: 1, text: 'the text is larger than 4 MiB' } };
  try {
    return { value: new Reader(source, lines).document(), lines, problem: null };
  } catch (error) {
    if (error instanceof Mistake) return { value: null, lines, problem: { line: error.line, text: error.message } };
    throw error;
  }
}

/** The line of what a pointer names, or of the nearest thing around it. */
export function lineOf(result: Pick<YamlResult, 'lines'>, pointer: string): number | null {
  let at = pointer;
  for (;;) {
    const found = result.lines.get(at);
    if (found !== undefined) return found;
    if (at === '') return null;
    at = at.slice(0, Math.max(0, at.lastIndexOf('/')));
  }
}

export function child(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

class Mistake extends Error {
  constructor(
    readonly line: number,
    text: string,
  ) {
    super(text);
  }
}

interface Line {
  number: number;
  /** Column where the text begins; moves to the right when a dash is taken off. */
  indent: number;
  /** Offset of the text in the source. */
  start: number;
  /** Without its end. */
  text: string;
}

class Reader {
  readonly #source: string;
  readonly #all: Line[] = [];
  readonly #lines: Map<string, number>;
  #at = 0;

  constructor(source: string, lines: Map<string, number>) {
    this.#source = source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
    this.#lines = lines;
    let start = 0;
    for (const [index, text] of this.#source.split('\n').entries()) {
      const indent = /^ */.exec(text)?.[0].length ?? 0;
      this.#all.push({ number: index + 1, indent, start: start + indent, text: text.slice(indent) });
      start += text.length + 1;
    }
  }

  document(): Plain {
    const first = this.#next();
    if (first?.text.startsWith('%')) throw new Mistake(first.number, 'directives are not understood here');
    if (first !== null && /^---(\s|$)/.test(first.text)) {
      if (first.text.trim() !== '---') throw new Mistake(first.number, 'put what follows --- on a line of its own');
      this.#at += 1;
    }
    const value = this.#next() === null ? null : this.#block(0, '', 0);
    const rest = this.#next();
    if (rest !== null && rest.text.trim() !== '...') {
      const text = rest.text.startsWith('---') ? 'only one document is read' : 'this does not belong to anything above; look at the indentation';
      throw new Mistake(rest.number, text);
    }
    return value;
  }

  /** The next line with something on it. */
  #next(): Line | null {
    for (; this.#at < this.#all.length; this.#at += 1) {
      const line = this.#all[this.#at] as Line;
      if (line.text.trim() === '' || line.text.startsWith('#')) continue;
      if (line.text.startsWith('\t')) throw new Mistake(line.number, 'indent with spaces, not with tabs');
      return line;
    }
    return null;
  }

  /** What begins at the next line and is indented by at least `least`. */
  #block(least: number, pointer: string, depth: number): Plain {
    const line = this.#next();
    if (line === null || line.indent < least) return null;
    if (depth > kMostDepth) throw new Mistake(line.number, `nested deeper than ${kMostDepth} levels`);
    if (!this.#lines.has(pointer)) this.#lines.set(pointer, line.number);
    if (isDash(line.text)) return this.#list(line.indent, pointer, depth);
    if (this.#keyAt(line) !== null) return this.#map(line.indent, pointer, depth);
    return this.#value(line, line.start, Math.max(0, least - 1), pointer, depth);
  }

  #list(indent: number, pointer: string, depth: number): Plain[] {
    const items: Plain[] = [];
    for (;;) {
      const line = this.#next();
      if (line === null || line.indent < indent) return items;
      if (line.indent > indent) throw new Mistake(line.number, 'indented further than the items above');
      if (!isDash(line.text)) return items;
      const place = child(pointer, items.length);
      this.#lines.set(place, line.number);
      const gap = /^-\s*/.exec(line.text)?.[0].length ?? 1;
      const rest = line.text.slice(gap);
      if (rest === '' || rest.startsWith('#')) {
        this.#at += 1;
        items.push(this.#block(indent + 1, place, depth + 1));
        continue;
      }
      // What follows the dash is read as a line of its own that begins further to the right.
      this.#all[this.#at] = { number: line.number, indent: line.indent + gap, start: line.start + gap, text: rest };
      items.push(this.#block(indent + 1, place, depth + 1));
    }
  }

  #map(indent: number, pointer: string, depth: number): { [key: string]: Plain } {
    const map: { [key: string]: Plain } = {};
    for (;;) {
      const line = this.#next();
      if (line === null || line.indent < indent) return map;
      if (line.indent > indent) throw new Mistake(line.number, 'indented further than the keys above');
      const found = this.#keyAt(line);
      if (found === null) {
        if (/^(---|\.\.\.)/.test(line.text) || isDash(line.text)) return map;
        throw new Mistake(line.number, 'a key with a colon and a space was expected here: “key: value”');
      }
      if (Object.hasOwn(map, found.key)) throw new Mistake(line.number, `the key “${found.key}” stands twice`);
      const place = child(pointer, found.key);
      this.#lines.set(place, line.number);
      const rest = this.#source.slice(found.after, line.start + line.text.length);
      const lead = /^\s*/.exec(rest)?.[0].length ?? 0;
      if (rest.length === lead || rest.slice(lead).startsWith('#')) {
        this.#at += 1;
        const below = this.#next();
        // A list may stand under its key without being indented.
        const least = below !== null && below.indent === indent && isDash(below.text) ? indent : indent + 1;
        define(map, found.key, this.#block(least, place, depth + 1));
      } else define(map, found.key, this.#value(line, found.after + lead, indent, place, depth + 1));
    }
  }

  /** A key at the beginning of the line: "name:", 'a b':, "x". */
  #keyAt(line: Line): { key: string; after: number } | null {
    const first = line.text[0] ?? '';
    if (first === '"' || first === "'") {
      const end = closing(line.text, 0);
      if (end < 0) return null;
      const after = /^\s*:(?=\s|$)/.exec(line.text.slice(end + 1));
      if (after === null) return null;
      return { key: this.#quoted(line.start, line.number).value, after: line.start + end + 1 + after[0].length };
    }
    if ('[{'.includes(first)) return null;
    const colon = /^((?:[^\s#:]|:(?=\S)|(?<=\S)#|[ ](?!#))*?)\s*:(?=\s|$)/.exec(line.text);
    if (colon === null) return null;
    if (first === '?' && line.text[1] === ' ') throw new Mistake(line.number, 'keys that begin with “? ” are not understood here');
    const key = (colon[1] ?? '').trim();
    return { key, after: line.start + colon[0].length };
  }

  /** A value that begins on this line at an offset; leaves the cursor on the line after it. */
  #value(line: Line, offset: number, indent: number, pointer: string, depth: number): Plain {
    const first = this.#source[offset] ?? '';
    if (first === '|' || first === '>') return this.#blockText(line, offset, indent);
    this.#refuse(first, line.number, this.#source[offset + 1] ?? '');
    if (first === '[' || first === '{' || first === '"' || first === "'") {
      const found = this.#flow(offset, pointer, depth);
      this.#endAt(found.end);
      return found.value;
    }
    return this.#plainLines(line, offset, indent);
  }

  #refuse(first: string, line: number, second: string): void {
    if (first === '&' || first === '*') throw new Mistake(line, 'anchors (& and *) are not understood here; write it out, or put the text into quotes');
    if (first === '!') throw new Mistake(line, 'tags (!) are not understood here; put the text into quotes');
    if ('@`%'.includes(first) && first !== '') throw new Mistake(line, `a text may not begin with ${first}; put it into quotes`);
    if ((first === '?' || first === '-') && second === ' ') throw new Mistake(line, 'this cannot begin here; put it on a line of its own');
  }

  #plainLines(line: Line, offset: number, indent: number): Plain {
    let text = this.#plainEnd(line, offset);
    this.#at += 1;
    const comment = this.#source.slice(offset, line.start + line.text.length).trimEnd().length > text.length;
    for (let breaks = 0; !comment && this.#at < this.#all.length; this.#at += 1) {
      const more = this.#all[this.#at] as Line;
      if (more.text.trim() === '') {
        breaks += 1;
        continue;
      }
      if (more.indent <= indent || more.text.startsWith('#')) break;
      text += breaks > 0 ? '\n'.repeat(breaks) : ' ';
      text += this.#plainEnd(more, more.start);
      breaks = 0;
    }
    return scalar(text);
  }

  /** A plain text up to a comment or the end of the line. */
  #plainEnd(line: Line, offset: number): string {
    const text = this.#source.slice(offset, line.start + line.text.length);
    const clean = text.replace(/\s+#.*$/, '').trimEnd();
    if (/:(\s|$)/.test(clean)) throw new Mistake(line.number, 'a colon and a space inside a text: put the text into quotes');
    return clean;
  }

  #blockText(line: Line, offset: number, indent: number): string {
    const header = this.#source.slice(offset, line.start + line.text.length).replace(/\s+#.*$/, '').trim();
    const parts = /^([|>])([1-9])?([+-])?([1-9])?$/.exec(header);
    if (parts === null) throw new Mistake(line.number, `“${header}” is no beginning of a block text; write | or > alone`);
    this.#at += 1;
    const given = parts[2] ?? parts[4];
    let column = given === undefined ? -1 : indent + Number(given);
    const texts: string[] = [];
    for (; this.#at < this.#all.length; this.#at += 1) {
      const more = this.#all[this.#at] as Line;
      const blank = more.text === '';
      if (column < 0 && !blank) {
        if (more.indent <= indent) break;
        column = more.indent;
      }
      if (!blank && more.indent < column) break;
      texts.push(blank ? '' : ' '.repeat(more.indent - column) + more.text);
    }
    const body = parts[1] === '|' ? texts.join('\n') : folded(texts);
    const chomped = body.replace(/\n+$/, '');
    if (parts[3] === '-') return chomped;
    if (parts[3] === '+') return `${body}\n`;
    return chomped === '' ? '' : `${chomped}\n`;
  }

  #lineAt(offset: number): number {
    let low = 0;
    let high = this.#all.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const line = this.#all[middle] as Line;
      if (line.start - line.indent <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** After a flow value only a comment may follow on its last line. */
  #endAt(offset: number): void {
    const index = this.#lineAt(Math.max(0, offset - 1));
    const line = this.#all[index] as Line;
    const rest = this.#source.slice(offset, line.start + line.text.length).trim();
    if (rest !== '' && !rest.startsWith('#')) throw new Mistake(line.number, `“${rest.slice(0, 20)}” does not belong here`);
    this.#at = index + 1;
  }

  #flow(offset: number, pointer: string, depth: number): { value: Plain; end: number } {
    const line = this.#lineAt(offset) + 1;
    if (depth > kMostDepth) throw new Mistake(line, `nested deeper than ${kMostDepth} levels`);
    if (!this.#lines.has(pointer)) this.#lines.set(pointer, line);
    const first = this.#source[offset] ?? '';
    if (first === '"' || first === "'") return this.#quoted(offset, line);
    if (first === '[') return this.#flowList(offset + 1, pointer, depth);
    if (first === '{') return this.#flowMap(offset + 1, pointer, depth);
    this.#refuse(first, line, '');
    let end = offset;
    while (end < this.#source.length && !/[,[\]{}\n]/.test(this.#source[end] as string) && !this.#colonAt(end) && !/^\s#/.test(this.#source.slice(end, end + 2))) end += 1;
    return { value: scalar(this.#source.slice(offset, end).trim()), end };
  }

  #colonAt(offset: number): boolean {
    return this.#source[offset] === ':' && /[\s,[\]{}]|^$/.test(this.#source[offset + 1] ?? '');
  }

  #skip(offset: number): number {
    let at = offset;
    for (;;) {
      while (at < this.#source.length && /\s/.test(this.#source[at] as string)) at += 1;
      if (this.#source[at] !== '#') return at;
      while (at < this.#source.length && this.#source[at] !== '\n') at += 1;
    }
  }

  #flowList(offset: number, pointer: string, depth: number): { value: Plain[]; end: number } {
    const value: Plain[] = [];
    const begin = this.#lineAt(offset - 1) + 1;
    let at = this.#skip(offset);
    while (this.#source[at] !== ']') {
      if (at >= this.#source.length) throw new Mistake(begin, 'the list that begins here with [ has no ]');
      const found = this.#flow(at, child(pointer, value.length), depth + 1);
      value.push(found.value);
      at = this.#skip(found.end);
      if (this.#source[at] === ',') at = this.#skip(at + 1);
      else if (this.#source[at] !== ']') throw new Mistake(at < this.#source.length ? this.#lineAt(at) + 1 : begin, 'a comma or ] was expected after this item of the list');
    }
    return { value, end: at + 1 };
  }

  #flowMap(offset: number, pointer: string, depth: number): { value: { [key: string]: Plain }; end: number } {
    const value: { [key: string]: Plain } = {};
    const begin = this.#lineAt(offset - 1) + 1;
    let at = this.#skip(offset);
    while (this.#source[at] !== '}') {
      if (at >= this.#source.length) throw new Mistake(begin, 'the map that begins here with { has no }');
      const line = this.#lineAt(at) + 1;
      const name = this.#flow(at, `${pointer}\u0000`, depth + 1);
      this.#lines.delete(`${pointer}\u0000`);
      const key = typeof name.value === 'object' && name.value !== null ? '' : String(name.value ?? 'null');
      if (Object.hasOwn(value, key)) throw new Mistake(line, `the key “${key}” stands twice`);
      const place = child(pointer, key);
      this.#lines.set(place, line);
      at = this.#skip(name.end);
      define(value, key, null);
      if (this.#source[at] === ':') {
        at = this.#skip(at + 1);
        if (!/[,}]/.test(this.#source[at] ?? '')) {
          const found = this.#flow(at, place, depth + 1);
          define(value, key, found.value);
          at = this.#skip(found.end);
        }
      }
      if (this.#source[at] === ',') at = this.#skip(at + 1);
      else if (this.#source[at] !== '}') throw new Mistake(at < this.#source.length ? this.#lineAt(at) + 1 : begin, 'a comma or } was expected after this entry of the map');
    }
    return { value, end: at + 1 };
  }

  #quoted(offset: number, line: number): { value: string; end: number } {
    const end = closing(this.#source, offset);
    if (end < 0) throw new Mistake(line, 'the quotes that begin here are never closed');
    const inside = this.#source.slice(offset + 1, end);
    const joined = inside.includes('\n') ? foldQuoted(inside) : inside;
    if (this.#source[offset] === "'") return { value: joined.replaceAll("''", "'"), end: end + 1 };
    return { value: unescape(joined, line), end: end + 1 };
  }
}

function define(map: { [key: string]: Plain }, key: string, value: Plain): void {
  // __proto__ is a key like any other.
  Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
}

function isDash(text: string): boolean {
  return text === '-' || /^-\s/.test(text);
}

/** Offset of the quote that closes the one at `offset`, or -1. */
function closing(text: string, offset: number): number {
  const quote = text[offset];
  for (let at = offset + 1; at < text.length; at += 1) {
    if (quote === '"' && text[at] === '\\') at += 1;
    else if (text[at] === quote) {
      if (quote === "'" && text[at + 1] === "'") at += 1;
      else return at;
    }
  }
  return -1;
}

function foldQuoted(text: string): string {
  return text.replace(/[ \t]*\n([ \t]*\n)*[ \t]*/g, (whole) => {
    const breaks = whole.split('\n').length - 1;
    return breaks === 1 ? ' ' : '\n'.repeat(breaks - 1);
  });
}

function folded(lines: readonly string[]): string {
  let text = '';
  lines.forEach((line, index) => {
    if (index === 0) text = line;
    else {
      const before = lines[index - 1] ?? '';
      const keep = line === '' || before === '' || line.startsWith(' ') || before.startsWith(' ');
      text += keep ? (before === '' && line !== '' && !line.startsWith(' ') ? '' : '\n') : ' ';
      text += line;
    }
  });
  return text;
}

const kEscapes: Record<string, string> = {
  '0': '\0', a: '\x07', b: '\b', t: '\t', '\t': '\t', n: '\n', v: '\v', f: '\f', r: '\r', e: '\x1b', ' ': ' ', '"': '"', '/': '/',
  '\\': '\\', N: '\u0085', _: '\u00a0', L: '\u2028', P: '\u2029',
};

function unescape(text: string, line: number): string {
  return text.replace(/\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/gis, (whole, x, u, long, one: string | undefined) => {
    const digits = (x ?? u ?? long) as string | undefined;
    if (digits !== undefined) {
      const code = Number.parseInt(digits, 16);
      if (code > 0x10ffff) throw new Mistake(line, `${whole} is no character`);
      return String.fromCodePoint(code);
    }
    const found = kEscapes[one ?? ''];
    if (found === undefined) throw new Mistake(line, `${whole} is not known inside double quotes; write \\\\ for a backslash`);
    return found;
  });
}

/** The core schema of YAML 1.2: yes and no are words, 1e3 is a number. */
function scalar(text: string): Plain {
  if (text === '' || text === '~' || /^(null|Null|NULL)$/.test(text)) return null;
  if (/^(true|True|TRUE)$/.test(text)) return true;
  if (/^(false|False|FALSE)$/.test(text)) return false;
  if (/^[-+]?\d+$/.test(text) || /^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/.test(text)) return Number(text);
  if (/^0x[0-9a-fA-F]+$/.test(text) || /^0o[0-7]+$/.test(text)) return Number(text);
  return text;
}
