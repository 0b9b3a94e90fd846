// What needs attention, with what is alike told once. Pure, for its test.
import type { Attention } from '../../api/model';

export interface AttentionGroup {
  /** The first stands for all; the server puts the worst and oldest first. */
  first: Attention;
  title: string;
  /** Devices, where there are several alike. */
  devices: readonly string[];
  size: number;
}

const kAlike = 3;

const deviceOf = (one: Attention) => /^device ([^,:]+)/.exec(one.why)?.[1] ?? '';

/** The same words about different devices: "sw-1 does not answer" and "sw-2 does not answer". */
function titleOf(one: Attention): string {
  const device = deviceOf(one);
  return device === '' ? one.title : one.title.replaceAll(device, '…');
}

/** Three and more incidents that differ only by their device are one line; everything else stays as it is. */
export function grouped(items: readonly Attention[]): AttentionGroup[] {
  const alike = new Map<string, Attention[]>();
  const nameOf = (one: Attention) => JSON.stringify([one.kind, one.severity, titleOf(one)]);
  for (const one of items) {
    if (one.kind !== 'incident' || deviceOf(one) === '') continue;
    const name = nameOf(one);
    alike.set(name, [...(alike.get(name) ?? []), one]);
  }
  const told = new Set<string>();
  const out: AttentionGroup[] = [];
  for (const one of items) {
    const name = nameOf(one);
    const all = alike.get(name);
    if (all === undefined || all.length < kAlike || deviceOf(one) === '') out.push({ first: one, title: one.title, devices: [], size: 1 });
    else if (!told.has(name)) {
      told.add(name);
      out.push({ first: one, title: titleOf(one), devices: [...new Set(all.map(deviceOf))], size: all.length });
    }
  }
  return out;
}

/** "sw-1, sw-2, sw-3 and 4 more". */
export function someOf(names: readonly string[], most = 3): string {
  return names.length <= most + 1 ? names.join(', ') : `${names.slice(0, most).join(', ')} and ${names.length - most} more`;
}
