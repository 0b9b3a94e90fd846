// What the API answers, as far as the dashboard reads it. The contract is openapi.json
// (types.gen.ts is made of it); these are the shapes behind its examples, with the words of the
// documentation. Optional: a time that never was, or a text that is empty, is left out.

export type TargetState = 'up' | 'degraded' | 'down' | 'stale' | 'unknown' | 'unreachable' | 'disabled';
export const kTargetStates: readonly TargetState[] = [
  'down', 'unreachable', 'degraded', 'stale', 'unknown', 'up', 'disabled',
];

export type Severity = 'critical' | 'major' | 'minor' | 'warning' | 'info';
export const kSeverities: readonly Severity[] = ['critical', 'major', 'minor', 'warning', 'info'];

export type Tier = 'critical' | 'high' | 'normal' | 'low';
export type Breaker = 'closed' | 'open' | 'half_open';
export type Labels = Record<string, string>;

export interface Headline {
  name: string;
  value: number;
  unit?: string;
  max?: number;
}

/** GET /api/fleet: columns of equal length. */
export interface FleetSnapshot {
  time: string;
  seq: number;
  /** What to ask for changes since; none if only some targets were asked for. */
  version?: string;
  /** Only the targets that changed, or that were asked for. */
  partial: boolean;
  groups: string[];
  label_sets: Labels[];
  count: number;
  columns: {
    key: string[];
    device: string[];
    addon: string[];
    address: string[];
    groups: number[][];
    labels: number[];
    region: string[];
    parents: string[][];
    state: TargetState[];
    since_ms: (number | null)[];
    tier: Tier[];
    interval: (number | null)[];
    suggested: (number | null)[];
    next_due_ms: (number | null)[];
    last_success_ms: (number | null)[];
    bound: (number | null)[];
    failures: number[];
    breaker: Breaker[];
    dead_letter: string[];
    problem: string[];
    severity: ('' | Severity)[];
    alerts: number[];
    acknowledged: boolean[];
    duration: (number | null)[];
    lag: (number | null)[];
    headline: Headline[][];
  };
}

export type AttentionKind =
  | 'incident' | 'dead_letter' | 'breaker' | 'stale' | 'observer' | 'store' | 'review';

export interface Attention {
  kind: AttentionKind;
  title: string;
  why: string;
  severity: Severity;
  since?: string;
  key?: string;
  count?: number;
}

/** GET /api/overview */
export interface Overview {
  time: string;
  seq: number;
  counts: Record<TargetState, number>;
  freshness: { median_age: number | null; p95_age: number | null; over_bound: number; fresh_share: number | null };
  rates: { polls_per_second: number; success_ratio: number | null };
  attention: Attention[];
  incidents: { open: number; acknowledged: number };
  alerts: { open: number; suppressed: number; silenced: number };
  jobs: { running: number; failed_24h: number };
}

export interface Welcome {
  needs_bootstrap: boolean;
  status_page: boolean;
}

export type Permission = 'read' | 'operate' | 'manage' | 'audit' | 'self';

export interface Grant {
  role: string;
  selector?: string;
}

/** GET /api/me */
export interface Me {
  name: string;
  kind: string;
  grants: Grant[];
  permissions: Permission[];
  csrf_token?: string;
  session?: string;
}

export interface Addon {
  name: string;
  version: string;
  title: string;
  description: string;
  category?: string;
  protocol: string;
  targets: number;
  origin: string;
  enabled: boolean;
  interval?: number;
}

/** What a target of an addon can be told, of GET /api/addons/{name}. */
export interface AddonParameter {
  name: string;
  type: string;
  required: boolean;
  help?: string;
  default?: string;
}

export interface BulkResult {
  op: string;
  key: string;
  result: 'done' | 'unchanged' | 'failed';
  detail?: string;
}

export type AlertStatus = 'pending' | 'active' | 'acknowledged' | 'suppressed' | 'resolved';

export interface Alert {
  id: string;
  number: number;
  severity: Severity;
  status: AlertStatus;
  title: string;
  message?: string;
  target?: string;
  device_name?: string;
  addon?: string;
  alert_type?: string;
  incident?: string;
  first_seen?: string;
  last_seen?: string;
  version: number;
}

/** Data of the events of /ws by type. */
export interface PollResultData {
  outcome: 'ok' | 'degraded' | 'transient' | 'permanent' | 'interrupted';
  at: string;
  duration: number;
  lag?: number;
  code?: string;
  trigger?: string;
  failures: number;
  staleness?: number;
  next_due?: string;
}

export interface TaskStateData {
  change: number;
  kind: 'health' | 'breaker' | 'dead_letter' | 'enabled' | 'faulted' | 'budget' | 'job';
  from: string;
  to: string;
  message: string;
  at: string;
  failures?: number;
  next_due?: string;
  reason?: string;
  provisional?: boolean;
}

export interface SchedulerStatsData {
  tasks: number;
  queue_depth: number;
  ready: number;
  in_flight: number;
  started: number;
  finished: number;
  lag: { p50: number; p99: number };
  failing: number;
  breakers: number;
  dead_letters: number;
}

export interface SystemStatusData {
  status: 'ok' | 'store_failing' | 'core_silent';
  store_failing: boolean;
  core_answers: boolean;
  version: string;
  started_at: string;
}
