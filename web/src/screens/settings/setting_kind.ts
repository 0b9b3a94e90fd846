// What kind of value a setting has, by the words of its type; names and values as people read them. Pure.
import type { Setting, SettingValue } from './shapes';

export type SettingKind =
  | { kind: 'boolean' }
  | { kind: 'integer' | 'number'; min: number; max: number }
  | { kind: 'duration'; min: string; max: string }
  | { kind: 'choice'; choices: string[] }
  | { kind: 'scope' }
  | { kind: 'list'; of: string }
  | { kind: 'text' };

export function kindOf(type: string, value: SettingValue): SettingKind {
  if (type === 'true or false') return { kind: 'boolean' };
  if (type === 'a scope') return { kind: 'scope' };
  const span = /^a duration from (.+) to (.+)$/.exec(type);
  if (span) return { kind: 'duration', min: span[1] as string, max: span[2] as string };
  const number = /^a (whole )?number from (\S+) to (\S+)$/.exec(type);
  if (number) return { kind: number[1] ? 'integer' : 'number', min: Number(number[2]), max: Number(number[3]) };
  if (Array.isArray(value)) return { kind: 'list', of: type.replace(/^a list of /, '') };
  const words = /^([a-z0-9_-]+(?:, [a-z0-9_-]+)*) or ([a-z0-9_-]+)$/.exec(type);
  if (words) return { kind: 'choice', choices: [...(words[1] as string).split(', '), words[2] as string] };
  return { kind: 'text' };
}

const kNames: Record<string, string> = {
  pve: 'PVE', pbs: 'PBS', pmg: 'PMG', snmp: 'SNMP', http: 'HTTP', api: 'API', url: 'URL', urls: 'URLs', smtp: 'SMTP', tls: 'TLS', ws: 'WebSocket', ssh: 'SSH', io: 'I/O',
};

/** Where the words of the key say too little. */
const kTitles: Record<string, string> = {
  adaptive_polling_enabled: 'Adaptive polling',
  adaptive_polling_shadow: 'Shadow: reckon and report only',
  adaptive_policy: 'Policy',
  adaptive_preset: 'Preset of the policy optimal',
  adaptive_polling_scope: 'Who it is for',
  adaptive_degraded: 'When the budget is too small, keep',
  adaptive_polling_base_interval: 'Base interval (adaptive, PVE)',
  adaptive_polling_min_interval: 'Shortest interval (adaptive, Proxmox)',
  adaptive_polling_max_interval: 'Longest interval (adaptive, Proxmox)',
  global_rate: 'Starts per second, in all',
  global_slots: 'Runs at once, in all',
  device_rate: 'Polls per second of one device',
  device_slots: 'Runs at once on one device',
  device_class_slots: 'Runs at once of one class on one device',
  max_starts_per_step: 'Starts per step',
  budget_headroom: 'Share of the budget that is planned',
};

/** pve_polling_interval -> "PVE polling interval". */
export function nameOf(key: string): string {
  const title = kTitles[key];
  if (title !== undefined) return title;
  const text = key.split('_').map((word) => kNames[word] ?? word).join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A value in one line; what is empty says so. */
export function valueText(value: SettingValue | null | undefined): string {
  if (value === null || value === undefined) return 'default';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  return value === '' ? 'not set' : String(value);
}

export function sameValue(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Why it cannot be changed here; nothing if it can. */
export function lockOf(setting: Setting): string | undefined {
  if (!setting.locked) return undefined;
  return setting.origin === 'environment'
    ? `Set by the environment (${setting.environment}): unset it and start the server again to change it here.`
    : `Only the environment can set it (${setting.environment}).`;
}

export function originText(origin: string): string {
  if (origin === 'settings') return 'changed';
  return origin;
}

/** Values that were edited and not stored yet; null: back to the default. */
export type Draft = Readonly<Record<string, SettingValue | null>>;

/** An edit that changes nothing is no edit. */
export function withEdit(draft: Draft, key: string, value: SettingValue | null, setting: Setting): Draft {
  const { [key]: _old, ...rest } = draft;
  const stored = setting.origin === 'settings';
  if (value === null ? !stored : sameValue(value, setting.value)) return rest;
  return { ...rest, [key]: value };
}

/** What a field shows: the edit, or what is in force. */
export function shownValue(draft: Draft, key: string, setting: Setting): SettingValue {
  if (!(key in draft)) return setting.value;
  return draft[key] ?? setting.default;
}

export type ScopeKind = 'all' | 'classes' | 'groups' | 'targets' | 'percent';

export interface Scope {
  kind: ScopeKind;
  names: string[];
  percent: number;
}

/** "classes:a,b" -> kind and names. */
export function parseScope(text: string): Scope {
  const [word = '', rest = ''] = splitOnce(text.trim(), ':');
  const names = rest.split(',').map((one) => one.trim()).filter((one) => one !== '');
  if (word === 'percent') return { kind: 'percent', names: [], percent: rest.trim() === '' ? Number.NaN : Number(rest) };
  if (word === 'classes' || word === 'groups' || word === 'targets') return { kind: word, names, percent: 100 };
  return { kind: 'all', names: [], percent: 100 };
}

export function formatScope(scope: Scope): string {
  if (scope.kind === 'all') return 'all';
  if (scope.kind === 'percent') return `percent:${Number.isFinite(scope.percent) ? scope.percent : ''}`;
  return `${scope.kind}:${scope.names.join(',')}`;
}

function splitOnce(text: string, by: string): [string, string] {
  const at = text.indexOf(by);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + by.length)];
}

const kTopics: readonly [RegExp, string][] = [
  [/^(adaptive_|staleness_|default_interval|p(ve|bs|mg)_polling|budget_|aging_|max_starts|global_|device_|poll_task)/, 'Polling'],
  [/(_timeout|snmp_resends)$/, 'Timeouts'],
  [/^history_/, 'History'],
  [/^(metrics_|log_)/, 'Metrics and log'],
  [/^(egress_|plugin_|exec_|ssh_)/, 'What may be asked and run'],
  [/^(trap_|inbound_)/, 'Listening'],
  [/^(api_|anonymous_|session_|trusted_|proxy_|external_url)/, 'API and login'],
  [/^status_page/, 'Status page'],
  [/^audit_/, 'Audit'],
  [/^(jobs_|maintenance_|backups_)/, 'Jobs and backups'],
  [/^(alert|flap_|observer_)/, 'Alerts'],
  [/^(smtp_|sentinel_)/, 'Telling people'],
];

/** Topics in the order people look for them. */
export function compareTopics(a: string, b: string): number {
  const place = (topic: string) => kTopics.findIndex(([, name]) => name === topic) >>> 0;
  return place(a) - place(b);
}

export function topicOf(key: string): string {
  return kTopics.find(([pattern]) => pattern.test(key))?.[1] ?? 'Other';
}

/** "+12 %", "−40 %", "same". */
export function changeWords(before: number, after: number): string {
  if (before <= 0 || !Number.isFinite(after / before)) return after === before ? 'same' : '';
  const change = after / before - 1;
  if (Math.abs(change) < 0.005) return 'same';
  return `${change > 0 ? '+' : '−'}${Math.abs(change * 100).toFixed(0)} %`;
}
