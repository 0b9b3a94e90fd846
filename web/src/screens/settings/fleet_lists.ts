// Groups and sources between a form and the API: what has a field is edited there, everything else is kept and shown
// as JSON. Pure, for its test.
import { lines, parseJson } from './object_spec';

export type Spec = Record<string, unknown>;
/** texts: a list; labels: `{role: [switch, router]}`, a line each. */
export type PartKind = 'text' | 'texts' | 'labels';

export interface Part {
  name: string;
  label: string;
  kind: PartKind;
  help?: string;
  placeholder?: string;
}

export interface FleetList {
  list: 'groups' | 'sources';
  one: string;
  title: string;
  about: string;
  none: string;
  removal: string;
  parts: readonly Part[];
}

export const kGroups: FleetList = {
  list: 'groups',
  one: 'group',
  title: 'Groups',
  about: 'devices that share settings, alert rules and a line of the status page',
  none: 'A group has its members by labels or by name, and gives all of them addons and settings.',
  removal: 'Its members stay, without what it gave them. What still names it must be changed first.',
  parts: [
    { name: 'match', label: 'Labels (one per line; all must hold)', kind: 'labels', placeholder: 'role=switch, router', help: 'Several values: any of them. * is any value.' },
    { name: 'members', label: 'Members by name (one per line)', kind: 'texts', placeholder: 'core-1' },
    { name: 'parent', label: 'Belongs to the group', kind: 'text', help: 'Its members are members of that one too.' },
    { name: 'addons', label: 'Addons for every member (one per line)', kind: 'texts', placeholder: 'snmp-system' },
    { name: 'tier', label: 'Tier', kind: 'text', placeholder: 'normal', help: 'critical, high, normal or low.' },
    { name: 'credentials', label: 'Credential', kind: 'text' },
  ],
};

export const kSources: FleetList = {
  list: 'sources',
  one: 'source',
  title: 'Sources',
  about: 'lists of devices in files or at an address, in the format of Prometheus',
  none: 'A source names files or an address with a list of devices; what comes and goes there comes and goes here.',
  removal: 'Its devices go with it.',
  parts: [
    { name: 'file_sd', label: 'Files (one per line)', kind: 'texts', placeholder: '/etc/pollux/sd/*.json' },
    { name: 'http_sd', label: 'Or an address', kind: 'text', placeholder: 'https://example.org/targets' },
    { name: 'credentials', label: 'Credential of the address', kind: 'text' },
    { name: 'refresh', label: 'Looked at every', kind: 'text', placeholder: '1m' },
    { name: 'addons', label: 'Addons for every device (one per line)', kind: 'texts', placeholder: 'icmp-ping' },
    { name: 'groups', label: 'Groups of every device (one per line)', kind: 'texts' },
  ],
};

const texts = (value: unknown): string[] | null => {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? (value as string[]) : null;
};

function shown(kind: PartKind, value: unknown): string | null {
  if (kind === 'text') return typeof value === 'string' ? value : null;
  if (kind === 'texts') return texts(value)?.join('\n') ?? null;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const all = Object.entries(value).map(([label, values]) => ({ label, values: texts(values) }));
  return all.every((one) => one.values !== null && one.values.every((text) => !/[,=\n]/.test(text))) ? all.map((one) => `${one.label}=${(one.values ?? []).join(', ')}`).join('\n') : null;
}

export interface ListForm {
  values: Record<string, string>;
  rest: string;
}

/** What a field cannot show stays in the rest. */
export function formOf(parts: readonly Part[], spec: Spec): ListForm {
  const values: Record<string, string> = {};
  const rest: Spec = { ...spec };
  for (const part of parts) {
    const text = shown(part.kind, spec[part.name]);
    if (text === null) continue;
    values[part.name] = text;
    delete rest[part.name];
  }
  return { values, rest: Object.keys(rest).length === 0 ? '' : JSON.stringify(rest, null, 2) };
}

/** Throws a text that says what is wrong. */
export function specOf(parts: readonly Part[], form: ListForm): Spec {
  const spec: Spec = form.rest.trim() === '' ? {} : { ...(parseJson(form.rest, 'The other settings') as Spec) };
  for (const { name, kind, label } of parts) {
    const text = (form.values[name] ?? '').trim();
    if (text === '') continue;
    if (spec[name] !== undefined) throw new Error(`"${name}" stands among the other settings and in its own field.`);
    if (kind === 'text') spec[name] = text;
    else if (kind === 'texts') spec[name] = lines(text);
    else spec[name] = labels(text, label);
  }
  return spec;
}

function labels(text: string, field: string): Record<string, string | string[]> {
  const found: Record<string, string | string[]> = {};
  for (const line of text.split('\n').map((one) => one.trim()).filter((one) => one !== '')) {
    const at = line.indexOf('=');
    const values = lines(line.slice(at + 1));
    if (at < 1 || values.length === 0) throw new Error(`${field}: "${line}" is no label with a value, such as role=switch.`);
    found[line.slice(0, at).trim()] = values.length === 1 ? (values[0] as string) : values;
  }
  return found;
}

/** One line about it, for the list. */
export function wordsOf(parts: readonly Part[], spec: Spec): string {
  const known = parts.flatMap((part) => {
    const text = shown(part.kind, spec[part.name]);
    return text === null || text === '' ? [] : [part.name === 'match' ? text.replaceAll('\n', ' and ') : `${part.name.replaceAll('_', ' ')} ${text.replaceAll('\n', ', ')}`];
  });
  const rest = Object.keys(spec).filter((name) => shown(parts.find((part) => part.name === name)?.kind ?? 'text', spec[name]) === null || !parts.some((part) => part.name === name));
  return [...known, ...rest.map((name) => name.replaceAll('_', ' '))].join('; ');
}
