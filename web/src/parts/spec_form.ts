// The spec of a fleet object between a form and a text. Pure: a form only touches the keys it shows,
// everything else stays as it was written.
import type { Spec } from './model';

/** The value of a key as a text; empty if it is not there or is no plain value. */
export function textOf(spec: Spec, key: string): string {
  const value = spec[key];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** Empty takes the key away. */
export function withText(spec: Spec, key: string, text: string): Spec {
  const { [key]: _, ...rest } = spec;
  return text.trim() === '' ? rest : { ...rest, [key]: text.trim() };
}

export function withNumber(spec: Spec, key: string, value: number | null): Spec {
  const { [key]: _, ...rest } = spec;
  return value === null || Number.isNaN(value) ? rest : { ...rest, [key]: value };
}

/** "", "true" or "false". */
export function withBool(spec: Spec, key: string, text: string): Spec {
  const { [key]: _, ...rest } = spec;
  return text === '' ? rest : { ...rest, [key]: text === 'true' };
}

export interface IntervalTexts {
  min: string;
  base: string;
  max: string;
}

export function intervalOf(spec: Spec): IntervalTexts {
  const value = spec['interval'];
  if (typeof value === 'string' || typeof value === 'number') return { min: '', base: String(value), max: '' };
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const map = value as Spec;
    return { min: textOf(map, 'min'), base: textOf(map, 'base'), max: textOf(map, 'max') };
  }
  return { min: '', base: '', max: '' };
}

export function withInterval(spec: Spec, change: Partial<IntervalTexts>): Spec {
  const next = { ...intervalOf(spec), ...change };
  const { interval: _, ...rest } = spec;
  const parts = Object.fromEntries(Object.entries(next).map(([name, text]) => [name, text.trim()]).filter(([, text]) => text !== ''));
  if (Object.keys(parts).length === 0) return rest;
  const only = parts['min'] === undefined && parts['max'] === undefined;
  return { ...rest, interval: only ? parts['base'] : parts };
}

/** A map of texts, one `name=value` per line. */
export function linesOf(spec: Spec, key: string): string {
  const value = spec[key];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return '';
  return Object.entries(value as Spec).map(([name, text]) => `${name}=${String(text)}`).join('\n');
}

export function withLines(spec: Spec, key: string, text: string): Spec {
  const { [key]: _, ...rest } = spec;
  const map: Record<string, string> = {};
  for (const line of text.split('\n')) {
    const at = line.indexOf('=');
    if (at > 0) map[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return Object.keys(map).length === 0 ? rest : { ...rest, [key]: map };
}

/** A list of names, parted by commas. Entries that are more than a name are shown by their name. */
export function namesOf(spec: Spec, key: string): string {
  const value = spec[key];
  if (!Array.isArray(value)) return '';
  return value.map((one) => nameOf(one)).join(', ');
}

function nameOf(entry: unknown): string {
  if (typeof entry === 'string') return entry;
  if (Array.isArray(entry)) return entry.map(String).join(' | ');
  return typeof entry === 'object' && entry !== null ? textOf(entry as Spec, 'name') : '';
}

/** Entries that are still named stay as they were written; `a | b` is a list of alternatives. */
export function withNames(spec: Spec, key: string, text: string): Spec {
  const { [key]: before, ...rest } = spec;
  const old = new Map<string, unknown>(Array.isArray(before) ? before.map((one) => [nameOf(one), one]) : []);
  const names = text.split(',').map((one) => one.trim()).filter((one) => one !== '');
  if (names.length === 0) return rest;
  const entry = (name: string): unknown => old.get(name) ?? (name.includes('|') ? name.split('|').map((one) => one.trim()).filter((one) => one !== '') : name);
  return { ...rest, [key]: names.map(entry) };
}

/** Parents that somebody edits are written by hand from then on. */
export function withParents(spec: Spec, text: string): Spec {
  const { labels, ...rest } = spec;
  const { parents_discovered_by: _, ...others } = (labels ?? {}) as Spec;
  return withNames(Object.keys(others).length === 0 ? rest : { ...rest, labels: others }, 'parents', text);
}

export function paramOf(spec: Spec, name: string): string {
  const params = spec['params'];
  return typeof params === 'object' && params !== null && !Array.isArray(params) ? textOf(params as Spec, name) : '';
}

export function withParam(spec: Spec, name: string, text: string): Spec {
  const { params: before, ...rest } = spec;
  const old = typeof before === 'object' && before !== null && !Array.isArray(before) ? (before as Spec) : {};
  const params = withText(old, name, text);
  return Object.keys(params).length === 0 ? rest : { ...rest, params };
}

export type Parsed = { spec: Spec; error?: undefined } | { spec?: undefined; error: string };

export function parseSpec(text: string): Parsed {
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { error: 'It must be an object: { "tier": "high" }' };
    return { spec: value as Spec };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

export function showSpec(spec: Spec): string {
  return JSON.stringify(spec, null, 2);
}

/** The entry of an addon in the spec of a device, as a spec of its own. */
export function addonEntry(device: Spec, addon: string): Spec {
  const list = device['addons'];
  const found = Array.isArray(list) ? list.find((one) => nameOf(one) === addon) : undefined;
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return {};
  const { name: _, ...rest } = found as Spec;
  return rest;
}

export function withAddonEntry(device: Spec, addon: string, entry: Spec): Spec {
  const list = Array.isArray(device['addons']) ? (device['addons'] as unknown[]) : [];
  const next = Object.keys(entry).length === 0 ? addon : { name: addon, ...entry };
  const found = list.some((one) => nameOf(one) === addon);
  return { ...device, addons: found ? list.map((one) => (nameOf(one) === addon ? next : one)) : [...list, next] };
}
