// The timeline of an incident as people read it: what the server writes for each alert is joined where
// it is one step. Pure, for its test.
import { plural } from '../../logic/format';
import type { TimelineEntry } from '../../parts/model';
import { who } from '../../parts/who';

export interface Step {
  at: string;
  kind: string;
  text: string;
  /** Alerts of this step. */
  alerts: string[];
  detail: string;
  by: string;
}

const kTogether = 5000;
// These come one by one while the failure ladder confirms each target.
const kInARow = 60_000;
const kSlow = new Set(['suppressed', 'released', 'resolved', 'activated']);

const kWords: Record<string, (many: string) => string> = {
  raised: (many) => `${many} raised`,
  activated: (many) => `${many} confirmed and active`,
  severity: (many) => `${many} with another severity`,
  suppressed: (many) => `${many} suppressed: a consequence, not a cause`,
  released: (many) => `${many} not suppressed any more`,
  acknowledged: (many) => `${many} acknowledged`,
  unacknowledged: (many) => `${many} not acknowledged any more`,
  flapping: (many) => `${many} flapping: changes too often`,
  settled: (many) => `${many} settled`,
  stale: (many) => `${many} stale: what raised it cannot be asked`,
  fresh: (many) => `${many} fresh again`,
  resolved: (many) => `${many} resolved`,
  incident_opened: () => 'incident opened',
  incident_joined: (many) => `${many} joined the incident`,
  incident_changed: () => 'incident changed',
  incident_resolved: () => 'incident over',
  note: () => 'note',
};

// What is said by another entry of the same moment.
const kSaidTwice = new Set(['incident_joined', 'released']);
const kWithThese = new Set(['activated', 'suppressed', 'acknowledged', 'raised', 'resolved']);

export function steps(entries: readonly TimelineEntry[]): Step[] {
  const sorted = [...entries].sort((a, b) => a.number - b.number);
  const told = new Set<string>();
  for (const one of sorted) if (kWithThese.has(one.kind)) told.add(`${one.alert} ${one.at}`);
  const found: (Step & { last: number; cause: string })[] = [];
  for (const one of sorted) {
    if (kSaidTwice.has(one.kind) && told.has(`${one.alert} ${one.at}`)) continue;
    const at = Date.parse(one.at);
    const cause = one.cause ?? '';
    const before = found.slice(-4).find((step) => step.kind === one.kind && step.cause === cause && step.by === who(one.by) && at - step.last <= (kSlow.has(one.kind) ? kInARow : kTogether) && one.alert !== undefined);
    if (before !== undefined && one.kind !== 'note') {
      if (one.alert !== undefined && !before.alerts.includes(one.alert)) before.alerts.push(one.alert);
      before.last = at;
      continue;
    }
    found.push({ at: one.at, kind: one.kind, text: '', alerts: one.alert === undefined ? [] : [one.alert], detail: '', by: who(one.by), last: at, cause });
  }
  return found.map(({ last: _, cause, ...step }) => ({ ...step, text: textOf(step), detail: detailOf(step.kind, cause) }));
}

function textOf(step: Step): string {
  const many = step.alerts.length <= 1 ? 'alert' : plural(step.alerts.length, 'alert');
  return kWords[step.kind]?.(many) ?? `${step.kind.replaceAll('_', ' ')}${step.alerts.length > 1 ? `, ${many}` : ''}`;
}

const kCauses: Record<string, string> = {
  confirmed: 'asked again, and it still does not answer',
  parent: 'what it stands behind is down',
  observer: 'our own view is impaired',
  flapping: 'it changes too often',
  raised: '',
  suppressed: '',
  recovery: 'it answers again',
  clear: 'the value is good again',
  reconciled: 'what raised it is gone',
  operator: 'by a person',
  expired: 'nothing was heard of it any more',
};

function detailOf(kind: string, cause: string): string {
  if (kind === 'incident_opened') return '';
  return kCauses[cause] ?? cause;
}
