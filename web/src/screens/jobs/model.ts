// What the API tells of jobs, and what can be said about them without asking.

export type JobState = 'pending' | 'blocked' | 'ready' | 'running' | 'completed' | 'failed' | 'cancelled';
export const kJobStates: readonly JobState[] = ['running', 'ready', 'blocked', 'pending', 'failed', 'cancelled', 'completed'];
export const kEnded: readonly JobState[] = ['completed', 'failed', 'cancelled'];

export interface Job {
  id: string;
  name: string;
  batch: string;
  type: string;
  priority: 'critical' | 'high' | 'normal' | 'low';
  /** All of the groups, any one of each. */
  depends_on: string[][];
  resources: Record<string, number>;
  slots: number;
  timeout: number;
  retry: { attempts: number; backoff: number };
  on_parent_failure: 'fail' | 'hold';
  arguments: Record<string, unknown>;
  device?: string;
  target?: string;
  created_by?: string;
  created_at: string;
  ended_at?: string;
  labels: Record<string, string>;
  state: JobState;
  held: boolean;
  attempts: number;
  /** Seconds since it was submitted, until it ended. */
  waited: number;
  /** Seconds since it could start. */
  ready_for?: number;
  position?: number;
  estimate?: number;
  verdict?: string;
  failure?: string;
  progress?: { done: number; total: number; text?: string };
}

export interface JobRun {
  attempt: number;
  started_at: string;
  finished_at?: string;
  outcome: string;
  exit_status?: number;
  code?: string;
  error?: string;
  output: string;
  truncated: boolean;
  log: string[];
}

export interface JobGraph {
  batch: string;
  jobs: { level: number; parents: string[]; job: Job }[];
  critical_path: { seconds: number; jobs: string[] };
}

export interface JobArgument {
  name: string;
  kind: 'text' | 'texts' | 'integer' | 'number' | 'boolean' | 'duration' | 'map';
  required: boolean;
  help: string;
  words?: string[];
}

export interface JobType {
  name: string;
  help: string;
  weight: number;
  slots: number;
  rate: number;
  priority: Job['priority'];
  timeout: number;
  longest_timeout: number;
  attempts: number;
  arguments: JobArgument[];
}

export interface Resource {
  name: string;
  capacity: number;
  used: number;
  wanted: number;
  waiting: number;
  holder_count: number;
  holders: { key: string; amount: number; since: string }[];
}

export function ended(job: Pick<Job, 'state'>): boolean {
  return kEnded.includes(job.state);
}

/** What may be done with a job now, as docs/jobs.md has its states. */
export function actsFor(job: Pick<Job, 'state' | 'held'>): { cancel: boolean; retry: boolean; hold: boolean; release: boolean } {
  const waits = job.state === 'pending' || job.state === 'blocked' || job.state === 'ready';
  return {
    cancel: !ended(job),
    retry: job.state === 'failed' || job.state === 'cancelled',
    hold: waits && !job.held,
    release: waits && job.held,
  };
}

/** "job-exec::0190…" -> its id; anything else is a target. */
export function jobOfKey(key: string): string | null {
  return /^job-[a-z0-9_-]+::([0-9a-f-]{36})$/.exec(key)?.[1] ?? null;
}

/** Help of the server names settings in backquotes. */
export function plainHelp(help: string): string {
  return help.replaceAll('`', '');
}

export type VerdictPart = { text: string } | { job: string };

/** Why a job waits, with the keys of other jobs as something to open. */
export function verdictParts(verdict: string): VerdictPart[] {
  const parts: VerdictPart[] = [];
  let at = 0;
  for (const found of verdict.matchAll(/"job-[a-z0-9_-]+::([0-9a-f-]{36})"/g)) {
    if (found.index > at) parts.push({ text: verdict.slice(at, found.index) });
    parts.push({ job: found[1] ?? '' });
    at = found.index + found[0].length;
  }
  if (at < verdict.length) parts.push({ text: verdict.slice(at) });
  return parts;
}

/** The words people use: a held job is not "disabled". */
export function plainVerdict(job: Pick<Job, 'state' | 'held' | 'verdict'>): string {
  if (job.held && !ended(job)) return 'It is held and starts when somebody releases it.';
  return job.verdict ?? '';
}
