// The manifest reference of the documentation as help beside the editor: sections with rows of keys, and
// which of them the cursor is in. Pure; the text itself is loaded with the editor.

export interface HelpRow {
  keys: string[];
  label: string;
  meaning: string;
}

export interface HelpSection {
  title: string;
  /** Top-level keys of a manifest that this section is about. */
  about: string[];
  notes: string[];
  rows: HelpRow[];
}

export function readReference(markdown: string): HelpSection[] {
  const sections: HelpSection[] = [];
  let now: HelpSection | null = null;
  let paragraph: string[] = [];
  const endParagraph = () => {
    if (now !== null && paragraph.length > 0) now.notes.push(paragraph.join(' '));
    paragraph = [];
  };
  for (const line of markdown.split('\n')) {
    const head = /^#{2,3} (.*)$/.exec(line);
    if (head !== null) {
      endParagraph();
      const title = head[1] ?? '';
      now = { title: title.replaceAll('`', '').replaceAll('[]', ''), about: codes(title).map((code) => code.replace('[]', '')), notes: [], rows: [] };
      sections.push(now);
    } else if (now === null) continue;
    else if (line.startsWith('|')) {
      endParagraph();
      takeRow(now, line);
    } else if (line.trim() === '') endParagraph();
    else paragraph.push(line.trim());
  }
  endParagraph();
  return sections.filter((section) => section.rows.length > 0 || section.notes.length > 0);
}

function takeRow(section: HelpSection, line: string): void {
  const cells = line.replaceAll('\\|', '\u0000').split('|').slice(1, -1).map((cell) => cell.trim().replaceAll('\u0000', '|'));
  const [label = '', ...rest] = cells;
  const meaning = rest.filter((cell) => cell !== '').join('; ');
  if (/^-+$/.test(label.replaceAll(/[:\s]/g, '')) || /^(key|section|part|format)\b/.test(label)) return;
  const before = section.rows.at(-1);
  // A row without a key goes on with the one above.
  if (label === '' && before !== undefined) {
    before.meaning += ` ${meaning}`;
    before.keys.push(...leading(meaning));
  } else section.rows.push({ keys: codes(label).map((code) => code.replace('[]', '')), label, meaning });
}

/** Keys that a meaning lists: "`name` (required), `path`". */
function leading(meaning: string): string[] {
  return codes(meaning).filter((code) => /^[a-z_]+$/.test(code));
}

export function codes(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map((found) => found[1] ?? '');
}

/** A text with `code` in it, in parts. */
export function parts(text: string): { text: string; code: boolean }[] {
  return text.split('`').map((part, index) => ({ text: part, code: index % 2 === 1 })).filter((part) => part.text !== '');
}

/** The top-level key above a line of a manifest, and the key on the line itself. */
export function placeOf(manifest: string, line: number): { section: string; key: string } {
  const lines = manifest.split('\n');
  const key = /^\s*(?:- )?(?:\{)?\s*"?([a-z_]+)"?\s*:/.exec(lines[line - 1] ?? '')?.[1] ?? '';
  for (let at = Math.min(line, lines.length) - 1; at >= 0; at -= 1) {
    const found = /^"?([a-z_]+)"?\s*:/.exec(lines[at] ?? '');
    if (found?.[1] !== undefined) return { section: found[1], key };
  }
  return { section: '', key };
}

/** The section for a place; the head of the manifest if there is none of its own. */
export function sectionFor(sections: readonly HelpSection[], section: string): HelpSection | undefined {
  const aliases: Record<string, string> = { signal_types: 'signals', parameters: 'Parameters and placeholders' };
  const wanted = aliases[section] ?? section;
  return sections.find((one) => one.about.includes(wanted) || one.title === wanted) ?? sections.find((one) => one.title === 'Head') ?? sections[0];
}
