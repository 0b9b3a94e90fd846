// What the API answers about settings, accounts, notifications and the audit trail.
import type { Grant } from '../../api/model';
import type { Notification as ToldOnce } from '../../parts/model';

/** Receivers, routes and silences are objects of the fleet. */
export type { FleetObject } from '../../parts/model';

export type SettingValue = string | number | boolean | string[];

export interface Setting {
  value: SettingValue;
  default: SettingValue;
  origin: 'default' | 'settings' | 'environment' | string;
  locked: boolean;
  environment: string;
  name?: string;
  applies: string;
  type: string;
  help: string;
}

export interface SettingsPage {
  version: number;
  settings: Record<string, Setting>;
}

export interface SettingChange {
  name: string;
  key?: string;
  before?: SettingValue;
  after?: SettingValue;
}

export interface SettingsVersion {
  version: number;
  at: string;
  note: string;
  changes: SettingChange[];
}

export interface Outlook {
  polls_per_second: number;
  mean_interval: number;
  longest_interval: number;
  mean_age: number;
}

export interface Preview {
  valid: boolean;
  errors: { pointer?: string; detail: string }[];
  /** Null while something is wrong with the edits. */
  now: Outlook | null;
  then: Outlook | null;
  targets_changed: number;
}

export interface User {
  name: string;
  display?: string;
  grants: Grant[];
  disabled: boolean;
  has_password: boolean;
  created?: string;
  password_changed?: string;
  version: number;
}

export interface UserSession {
  id: string;
  user: string;
  created: string;
  last_seen: string;
  ends: string;
  address: string;
  agent: string;
  remember: boolean;
  current: boolean;
}

export interface Token {
  name: string;
  owner: string;
  scopes: string[];
  grants?: Grant[];
  created?: string;
  expires?: string;
  expired: boolean;
  last_used?: string;
}

export interface ChannelSpec {
  name?: string;
  kind?: 'email' | 'webhook' | 'exec';
  url?: string;
  template?: string;
  to?: string[];
  from?: string;
  argv?: string[];
  credentials?: string;
  params?: Record<string, unknown>;
  per_minute?: number;
  send_resolved?: boolean;
}

export interface ReceiverSpec {
  channels?: ChannelSpec[];
}

export interface RouteSpec {
  order?: number;
  match?: string[] | Record<string, string>;
  at_least?: string;
  only_during?: unknown[];
  quiet?: unknown[];
  receivers?: string[];
  escalation?: { after: string; receivers: string[] }[];
  group_by?: string[];
  group_wait?: string;
  group_interval?: string;
  repeat?: string;
  go_on?: boolean;
}

export interface SilenceSpec {
  match?: string[] | Record<string, string>;
  from?: string;
  until?: string;
  cron?: string;
  duration?: string;
  zone?: string;
  owner?: string;
  reason?: string;
}

export interface ChannelHealth {
  receiver: string;
  channel: string;
  worked_at?: string;
  failed_at?: string;
  last_error?: string;
  works: boolean;
}

/** As the log of deliveries has it. */
export interface Notification extends ToldOnce {
  not_before?: string;
  state: 'waiting' | 'delivered' | 'failed' | 'cancelled' | 'held';
  last_attempt?: string;
  provisional: boolean;
  body?: unknown;
}

export interface AuditRecord {
  number: number;
  at: string;
  result: 'allowed' | 'refused' | 'failed';
  principal: string;
  address: string;
  action: string;
  object: string;
  reason: string;
  before: string;
  after: string;
  request_id: string;
}

export interface AuditVerdict {
  ok: boolean;
  records: number;
  first: number;
  last: number;
  removed: number;
  checkpoints: number;
  newest_checkpoint: number;
  newest_checkpoint_time?: string;
  key: string;
  public_key: string;
  found: number;
  findings: { code: string; number: number; text: string }[];
}
