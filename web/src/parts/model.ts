// Shapes of the API that the screens of targets, devices and incidents share.
import type { Alert as AlertCore, Breaker, Labels, Severity, Tier } from '../api/model';

export interface TaskRow {
  key: string;
  class: string;
  place: string;
  enabled: boolean;
  tier: Tier;
  next_due?: string;
  interval: number;
  suggested: number;
  last_success?: string;
  last_error?: string;
  last_change?: string;
  age?: number;
  bound: number;
  staleness: number;
  problem?: string;
  failures: number;
  breaker: Breaker;
  breaker_since?: string;
  dead_letter: string;
  dead_letter_since?: string;
  first_failure?: string;
  last_attempt?: string;
  code?: string;
  error?: string;
}

export type Origin = 'file' | 'api' | 'discovery';
export type Spec = Record<string, unknown>;

/** What fleet objects have in common: GET /api/devices/{name} and the like. */
export interface FleetObject<Form = Spec> {
  name: string;
  id: string;
  origin: Origin;
  version: number;
  changed_at?: string;
  spec: Form;
}

export interface TargetObject extends FleetObject {
  key: string;
  addon: string;
  device: string;
  connection?: string;
  labels: Labels;
  groups: string[];
  tasks: TaskRow[];
}

export interface Alert extends AlertCore {
  fingerprint: string;
  source: string;
  subject?: string;
  device_ip?: string;
  labels: Labels;
  groups: string[];
  category?: string;
  suppressed_by?: string;
  previous?: string;
  occurrence_count: number;
  active_since?: string;
  acknowledged_at?: string;
  acknowledged_by?: string;
  acknowledged_note?: string;
  acknowledged_until?: string;
  acknowledged_sticky?: boolean;
  resolved_at?: string;
  resolved_by?: string;
  resolved_who?: string;
  flapping: boolean;
  stale: boolean;
}

export interface TimelineEntry {
  number: number;
  at: string;
  kind: string;
  alert?: string;
  incident?: string;
  from?: string;
  to?: string;
  severity?: Severity;
  cause?: string;
  by?: string;
}

export interface Notification {
  id: string;
  number: number;
  incident?: string;
  receiver: string;
  channel: string;
  route?: string;
  kind: string;
  made: string;
  state: string;
  attempts: number;
  last_error?: string;
  delivered?: string;
}

export interface Note {
  at: string;
  by?: string;
  text: string;
  public?: boolean;
}

export interface Incident {
  id: string;
  number: number;
  cause: 'alert' | 'device' | 'observer';
  root?: string;
  device_name?: string;
  title: string;
  severity: Severity;
  status: 'open' | 'resolved';
  opened_at: string;
  resolved_at?: string;
  affected: number;
  notes: Note[];
  version: number;
}

export interface IncidentPage extends Incident {
  root_alert?: Alert;
  affected_alerts: Alert[];
  more_alerts: boolean;
  timeline: TimelineEntry[];
  notifications: Notification[];
}

export interface AlertPage extends Alert {
  evidence?: { rule?: string; fields?: Record<string, unknown> };
  timeline: TimelineEntry[];
  incident_summary?: Incident;
  notifications: Notification[];
}

export interface AlertStats {
  total_active: number;
  total_open: number;
  by_severity: Partial<Record<Severity, number>>;
  by_status: Record<string, number>;
  review: boolean;
}

export interface Change {
  number: number;
  at: string;
  kind: string;
  from?: string;
  to?: string;
  message: string;
  failures: number;
}
