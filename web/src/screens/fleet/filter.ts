// What the filter of the fleet knows, and by what its table can be grouped.
import type { FilterSchema } from '../../logic/filter';
import { naturally } from '../../logic/table_rows';
import { serverNow } from '../../logic/clock';
import { kSeverities, kTargetStates } from '../../api/model';
import { fleet } from '../../state/fleet';
import type { Target } from '../../state/target';

function distinct(read: (target: Target) => string | readonly string[]): string[] {
  const found = new Set<string>();
  for (const target of fleet.targets()) {
    const value = read(target);
    if (typeof value === 'string') found.add(value);
    else for (const one of value) found.add(one);
  }
  return [...found].sort(naturally);
}

export function labelNames(): string[] {
  return distinct((target) => Object.keys(target.labels));
}

export const kFleetFilter: FilterSchema<Target> = {
  fields: [
    { name: 'state', help: 'state of the target', kind: 'word', read: (t) => t.state, values: () => kTargetStates },
    { name: 'addon', help: 'how it is polled', kind: 'word', read: (t) => t.addon, values: () => distinct((t) => t.addon) },
    { name: 'device', help: 'part of the name of the device', kind: 'text', read: (t) => t.device },
    { name: 'group', help: 'group of the device', kind: 'word', read: (t) => t.groups, values: () => distinct((t) => t.groups) },
    { name: 'severity', help: 'worst open alert', kind: 'word', read: (t) => t.severity, values: () => kSeverities },
    { name: 'parent', help: 'device it stands behind', kind: 'word', read: (t) => t.parents, values: () => distinct((t) => t.parents) },
    { name: 'region', help: 'region of the device', kind: 'word', read: (t) => t.region || [], values: () => distinct((t) => t.region || []) },
    { name: 'tier', help: 'priority', kind: 'word', read: (t) => t.tier, values: () => ['critical', 'high', 'normal', 'low'] },
    { name: 'breaker', help: 'closed, open, half_open', kind: 'word', read: (t) => t.breaker, values: () => ['closed', 'open', 'half_open'] },
    { name: 'dead', help: 'dead letter, by reason; * is any', kind: 'word', read: (t) => t.deadLetter || null, values: () => ['*'] },
    { name: 'problem', help: 'part of the last error', kind: 'text', read: (t) => t.problem },
    { name: 'key', help: 'part of addon::device', kind: 'text', read: (t) => t.key },
    { name: 'address', help: 'part of the address', kind: 'text', read: (t) => t.address },
    { name: 'age', help: 'since the last good answer: age>5m', kind: 'number', read: (t) => t.age(serverNow()) },
    { name: 'lag', help: 'start after it was due: lag>1s', kind: 'number', read: (t) => t.lag },
    { name: 'interval', help: 'between polls: interval<30s', kind: 'number', read: (t) => t.interval },
    { name: 'duration', help: 'of the last poll: duration>500ms', kind: 'number', read: (t) => t.duration },
    { name: 'failures', help: 'in a row: failures>2', kind: 'number', read: (t) => t.failures },
    { name: 'alerts', help: 'how many are open: alerts>0', kind: 'number', read: (t) => t.alerts },
  ],
  text: (t) => `${t.key} ${t.address} ${t.problem}`,
  label: (t, name) => t.labels[name],
  labels: labelNames,
  labelValues: (name) => distinct((t) => t.labels[name] ?? []),
};

export const kFilterNames = kFleetFilter.fields.map((field) => field.name);

export interface Grouping {
  id: string;
  title: string;
  read: (target: Target) => string | readonly string[];
}

export function groupings(): Grouping[] {
  const all: Grouping[] = [
    { id: 'device', title: 'Device', read: (t) => t.device },
    { id: 'parent', title: 'Parent', read: (t) => t.parents },
    { id: 'addon', title: 'Addon', read: (t) => t.addon },
    { id: 'group', title: 'Group', read: (t) => t.groups },
    { id: 'region', title: 'Region', read: (t) => t.region || [] },
    { id: 'state', title: 'State', read: (t) => t.state },
  ];
  for (const name of labelNames()) {
    all.push({ id: `label.${name}`, title: `Label ${name}`, read: (t) => t.labels[name] ?? [] });
  }
  return all;
}
