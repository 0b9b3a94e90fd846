// The targets of the fleet, kept from snapshots and events. No network and no clock here: the tests
// drive it directly, and state/fleet.ts wires it to the server.
import type { LiveEvent } from '../api/live';
import type { Alert, FleetSnapshot, PollResultData, Severity, TargetState, TaskStateData } from '../api/model';
import { kSeverities } from '../api/model';
import { Target } from './target';

export type Counts = Record<TargetState, number>;

export function noCounts(): Counts {
  return { up: 0, degraded: 0, down: 0, stale: 0, unknown: 0, unreachable: 0, disabled: 0 };
}

/** What a batch of events did. */
export interface Applied {
  changed: number;
  /** The order or grouping of a table may be another now (a state, a severity). */
  reordered: boolean;
  /** Something happened that only a new snapshot tells exactly. */
  incomplete: boolean;
}

// The same answer, told by an event and by a snapshot, ms.
const kSame = 250;

export class FleetBook {
  readonly byKey = new Map<string, Target>();
  /** In the order of the snapshot. A new array whenever targets came or went. */
  targets: readonly Target[] = [];
  /** Of the newest snapshot. */
  seq = 0;
  #parents = new Set<string>();

  /** Takes rows `from` to `to` of a snapshot, so that a large one can be taken in parts. */
  take(snapshot: FleetSnapshot, from: number, to: number): void {
    const columns = snapshot.columns;
    for (let row = from; row < to; row += 1) {
      const key = columns.key[row] as string;
      let target = this.byKey.get(key);
      if (target === undefined) {
        target = new Target(key);
        this.byKey.set(key, target);
      }
      fill(target, snapshot, row);
      for (const parent of target.parents) this.#parents.add(parent);
      target.changed();
    }
  }

  /** Takes nothing but the values: what events told meanwhile is newer than the rest. */
  takeValues(snapshot: FleetSnapshot): void {
    const { key, headline, last_success_ms } = snapshot.columns;
    key.forEach((name, row) => {
      const target = this.byKey.get(name);
      const at = last_success_ms[row] ?? null;
      if (target === undefined || at === null || at < (target.headlineAt ?? 0)) return;
      target.headline = headline[row] ?? [];
      target.headlineAt = at;
      target.lastSuccess = Math.max(at, target.lastSuccess ?? 0);
      if (target.lastSuccess - at <= kSame) target.overtaken = null;
      target.changed();
    });
  }

  /** After all rows were taken: forgets what is gone. Tells whether targets came or went. */
  finish(snapshot: FleetSnapshot): boolean {
    const keys = snapshot.columns.key;
    const before = this.targets;
    this.seq = Math.max(this.seq, snapshot.seq);
    if (snapshot.partial || (before.length === keys.length && keys.every((key, row) => before[row]?.key === key))) return false;
    this.targets = keys.map((key) => this.byKey.get(key) as Target);
    const wanted = new Set(keys);
    for (const key of [...this.byKey.keys()]) if (!wanted.has(key)) this.byKey.delete(key);
    return true;
  }

  apply(events: readonly LiveEvent[]): Applied {
    const applied: Applied = { changed: 0, reordered: false, incomplete: false };
    for (const event of events) {
      if (event.key === undefined) continue;
      const target = this.byKey.get(targetOf(event.key));
      if (target === undefined) {
        if (event.seq > this.seq) applied.incomplete = true;
        continue;
      }
      // A partial snapshot says nothing of the others: what was told of them before it still counts.
      if (event.seq <= target.seq) continue;
      const before = target.state;
      const severity = target.severity;
      // A target of several tasks is shown by its main one; how the others join in, a snapshot tells.
      if (event.key.includes('#')) {
        target.several = true;
        if (event.type === 'task_state_changed') applied.incomplete = true;
        if (event.type === 'task_state_changed' || event.type === 'poll_result') continue;
      }
      this.#one(target, event, applied);
      target.changed();
      applied.changed += 1;
      if (target.state !== before || target.severity !== severity) applied.reordered = true;
    }
    return applied;
  }

  #one(target: Target, event: LiveEvent, applied: Applied): void {
    switch (event.type) {
      case 'poll_result':
        pollResult(target, event.data as PollResultData);
        break;
      case 'task_state_changed':
        stateChanged(target, event.data as TaskStateData, applied);
        // Who stands behind it may now be unreachable, or not any more.
        if (target.parents.length > 0 || this.#parents.has(target.device)) applied.incomplete = true;
        break;
      default:
        alertChanged(target, event.type, event.data as Alert);
        applied.incomplete = true;
    }
  }

  /** Values that are older than their bound are shown as stale, whatever was told last. */
  age(now: number): boolean {
    let reordered = false;
    for (const target of this.targets) {
      if (target.state !== 'up' && target.state !== 'degraded') continue;
      const age = target.age(now);
      if (age === null || target.bound === null || age <= target.bound) continue;
      target.state = 'stale';
      target.since = now;
      target.changed();
      reordered = true;
    }
    return reordered;
  }

  counts(): Counts {
    const counts = noCounts();
    for (const target of this.targets) counts[target.state] += 1;
    return counts;
  }
}

/** `pve::node#slow` is a task of the target `pve::node`. */
export function targetOf(task: string): string {
  const hash = task.indexOf('#');
  return hash < 0 ? task : task.slice(0, hash);
}

function fill(target: Target, snapshot: FleetSnapshot, row: number): void {
  const c = snapshot.columns;
  target.seq = snapshot.seq;
  target.device = c.device[row] ?? '';
  target.addon = c.addon[row] ?? '';
  target.address = c.address[row] ?? '';
  target.groups = (c.groups[row] ?? []).map((index) => snapshot.groups[index] ?? '');
  target.labels = snapshot.label_sets[c.labels[row] ?? -1] ?? {};
  target.region = c.region[row] ?? '';
  target.parents = c.parents[row] ?? [];
  target.state = c.state[row] ?? 'unknown';
  target.since = c.since_ms[row] ?? null;
  target.tier = c.tier[row] ?? 'normal';
  target.interval = c.interval[row] ?? null;
  target.suggested = c.suggested[row] ?? null;
  target.nextDue = c.next_due_ms[row] ?? null;
  target.lastSuccess = c.last_success_ms[row] ?? null;
  target.bound = c.bound[row] ?? null;
  target.failures = c.failures[row] ?? 0;
  target.breaker = c.breaker[row] ?? 'closed';
  target.deadLetter = c.dead_letter[row] ?? '';
  target.problem = c.problem[row] ?? '';
  target.severity = c.severity[row] ?? '';
  target.alerts = c.alerts[row] ?? 0;
  target.acknowledged = c.acknowledged[row] ?? false;
  target.duration = c.duration[row] ?? null;
  target.lag = c.lag[row] ?? null;
  target.headline = c.headline[row] ?? [];
  target.headlineAt = target.lastSuccess;
  target.overtaken = null;
}

/** A newer answer than that of the values that are shown: events do not bring any. */
function answered(target: Target, at: number): void {
  target.lastSuccess = at;
  if (target.headlineAt === null || at - target.headlineAt > kSame) target.overtaken ??= at;
}

function pollResult(target: Target, data: PollResultData): void {
  const at = Date.parse(data.at);
  if (data.lag !== undefined) target.lag = data.lag;
  target.failures = data.failures;
  target.duration = data.duration;
  if (data.next_due !== undefined) target.nextDue = Date.parse(data.next_due);
  target.remember(data.duration);
  if (data.outcome === 'ok' || data.outcome === 'degraded') {
    answered(target, at);
    target.problem = '';
    const good: TargetState = data.outcome === 'ok' ? 'up' : 'degraded';
    const follows = target.state === 'stale' || target.state === 'unknown' || (!target.several && (target.state === 'up' || target.state === 'degraded'));
    if (follows && target.state !== good) {
      target.state = good;
      target.since = at;
    }
  }
}

function stateChanged(target: Target, data: TaskStateData, applied: Applied): void {
  const at = Date.parse(data.at);
  if (data.failures !== undefined) target.failures = data.failures;
  if (data.next_due !== undefined) target.nextDue = Date.parse(data.next_due);
  switch (data.kind) {
    case 'health':
      if (target.several) applied.incomplete = true;
      else if (target.state !== 'disabled' && (data.to === 'up' || data.to === 'down' || data.to === 'degraded' || data.to === 'unknown')) {
        if (target.state !== data.to) target.since = at;
        target.state = data.to;
      }
      // It is up because of an answer, whose result may not have been told.
      if (data.to === 'up') answered(target, Math.max(target.lastSuccess ?? 0, at));
      target.problem = data.to === 'up' ? '' : (data.reason ?? target.problem);
      break;
    case 'breaker':
      if (data.to === 'closed' || data.to === 'open' || data.to === 'half_open') target.breaker = data.to;
      break;
    case 'dead_letter':
      target.deadLetter = data.to === 'none' ? '' : data.to;
      break;
    case 'enabled':
      target.state = data.to === 'disabled' ? 'disabled' : 'unknown';
      target.since = at;
      break;
    default:
      break;
  }
}

const rank = (severity: '' | Severity) => (severity === '' ? kSeverities.length : kSeverities.indexOf(severity));

function alertChanged(target: Target, type: string, alert: Alert): void {
  if (type === 'alert_created') {
    target.alerts += 1;
    target.acknowledged = false;
    if (rank(alert.severity) < rank(target.severity)) target.severity = alert.severity;
  } else if (type === 'alert_resolved') {
    target.alerts = Math.max(0, target.alerts - 1);
    if (target.alerts === 0) target.severity = '';
  } else if (target.alerts === 1) {
    target.acknowledged = alert.status === 'acknowledged';
    target.severity = alert.severity;
  }
}
