// What the API answers about the scheduler.
import type { Breaker, Tier } from '../../api/model';

export interface HistoryPoint {
  at: string;
  started: number;
  finished: number;
  failed: number;
  ready: number;
  in_flight: number;
  lag_p50: number;
  lag_p95: number;
  tasks: number;
}

export interface SchedulerHistory {
  step: number;
  points: HistoryPoint[];
  lag_bounds: number[];
  lag_counts: number[][];
}

/** Five minutes of a class or a region. */
export interface QueuePoint {
  at: string;
  started: number;
  finished: number;
  failed: number;
  success_ratio?: number;
  mean?: number;
  p95?: number;
}

/** Five minutes of a worker. */
export interface WorkerPoint {
  at: string;
  cpu_share: number;
  completed: number;
  failed: number;
}

export interface Day<Point> {
  step: number;
  points: Point[];
}

export type Span = '15m' | '6h' | '24h';

export interface Change {
  at: string;
  kind: string;
  from?: string;
  to?: string;
  failures: number;
}

export interface BreakerEntry {
  key: string;
  type: string;
  instance: string;
  state: Breaker;
  failures: number;
  since?: string;
  retryAt?: string;
  firstFailureAt?: string;
  lastError?: string;
  code?: string;
  deadLetter: boolean;
  history: Change[];
}

export interface DeadLetterEntry {
  key: string;
  type: string;
  instance: string;
  reason: string;
  since?: string;
  firstAttempt?: string;
  lastAttempt?: string;
  retryCount: number;
  entries: number;
  nextRetry?: string;
  enabled: boolean;
  lastError?: string;
  code?: string;
  history: Change[];
}

export interface PlanEntry {
  key: string;
  class: string;
  next_run?: string;
  due_in: number;
  tier: Tier;
  interval: number;
  would_be?: number;
  place: string;
}

export interface Plan {
  time: string;
  shadow: boolean;
  items: PlanEntry[];
}

export interface ReadyEntry {
  key: string;
  place: string;
  priority: Tier;
  effective_priority: Tier;
  ready_since?: string;
  ready_for: number;
  due?: string;
  slots: number;
  waited?: number;
  resources: Record<string, number>;
  needs: string[];
}

export interface Batch {
  at: string;
  ready: number;
  starts: number;
  in_flight: number;
  resources: Record<string, number>;
}

export interface ReadySet {
  time: string;
  count: number;
  items: ReadyEntry[];
  batches: Batch[];
}

export type PolicyName = 'fixed' | 'classic' | 'optimal' | 'aimd';

export interface PolicyLine {
  policy: PolicyName;
  polls_per_second: number;
  mean_interval: number;
  longest_interval: number;
  mean_age: number;
  classes: { class: string; tasks: number; polls_per_second: number; mean_interval: number }[];
}

export interface Policies {
  adaptive: boolean;
  in_force: PolicyName;
  budget: { polls_per_second: number; used: number };
  items: PolicyLine[];
}

export interface Worker {
  name: string;
  kind: string;
  /** Running: a thread that nobody asks. */
  status: 'ok' | 'silent' | 'failing' | 'running';
  last_seen?: string;
  threads: number;
  cpu_seconds: number;
  cpu_share: number;
  active?: number;
  completed?: number;
  failed?: number;
  /** What its tables hold, about; the rest of the memory belongs to all of them. */
  memory_bytes?: number;
}

export interface Workers {
  time: string;
  process: { cpu_seconds: number; resident_bytes: number; peak_resident_bytes: number; heap_bytes?: number; open_fds: number };
  items: Worker[];
}

export interface Queue {
  class: string;
  tasks: number;
  length: number;
  start_rate: number;
  finish_rate: number;
  day: { started: number; finished: number; failed: number; success_ratio?: number; mean?: number; p95?: number };
}

/** The rates and the day are as for queues. */
export interface Region extends Omit<Queue, 'class' | 'tasks' | 'length'> {
  /** Empty: the local one. */
  region: string;
  in_flight: number;
  /** Nothing: no limit. */
  slots?: number;
}

export interface Queues {
  time: string;
  items: Queue[];
}

export interface Regions {
  time: string;
  items: Region[];
}
