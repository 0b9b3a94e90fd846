// Parents that a topology job proposes, compared with the fleet. Pure.

export type Standing = 'new' | 'changed' | 'same' | 'by_hand' | 'gone';

export interface ParentsChange {
  device: string;
  parents: string[];
  by: string[];
  current: string[][];
  standing: Standing;
  origin?: 'api' | 'file' | 'discovery';
  /** What its entry in a fleet file would say. */
  text: string;
}

interface Notes<T> {
  count: number;
  items: T[];
}

export interface UnknownNeighbour {
  name?: string;
  address?: string;
  hardware?: string;
  seen_by: string;
  by: string;
}

export interface AmbiguousSighting {
  what: string;
  seen_by?: string;
  devices: string[];
}

export interface TopologyFound {
  roots: string[];
  asked: number;
  answered: number;
  proposed: number;
  same: number;
  left_out: number;
  changes: ParentsChange[];
  unreached?: Notes<string>;
  unknown?: Notes<UnknownNeighbour>;
  ambiguous?: Notes<AmbiguousSighting>;
  circles?: Notes<string>;
  one_sided?: Notes<string[]>;
}

/** "core-a or core-b" */
export const anyOf = (parents: readonly string[]): string => parents.join(' or ');

/** What stands there now; all groups must hold, any one of each. */
export const nowText = (current: readonly (readonly string[])[]): string => current.map(anyOf).join(' and ');

const open = (change: ParentsChange) => change.standing === 'new' || change.standing === 'changed';

export interface SortedChanges {
  /** May be accepted here. */
  ours: ParentsChange[];
  /** Belong to files or sources: shown as text, or adopted. */
  owned: ParentsChange[];
  /** Differ from what somebody wrote, and stay. */
  byHand: ParentsChange[];
  /** Accepted already, or gone since. */
  done: number;
}

export function sortChanges(changes: readonly ParentsChange[]): SortedChanges {
  const sorted: SortedChanges = { ours: [], owned: [], byHand: [], done: 0 };
  for (const change of changes) {
    if (change.standing === 'by_hand') sorted.byHand.push(change);
    else if (!open(change)) sorted.done += 1;
    else (change.origin === 'api' ? sorted.ours : sorted.owned).push(change);
  }
  return sorted;
}

/** All of them as one piece of a fleet file. */
export function fileText(changes: readonly ParentsChange[]): string {
  if (changes.length === 0) return '';
  return `devices:\n${changes.map((change) => change.text.replace(/^devices:\n/, '')).join('')}`;
}
