// What counts as healthy and what as a warning, in numbers and in words. Pure.
import type { Tone } from '../../design/StateMark';
import { duration, percent } from '../../logic/format';

export type Verdict = 'healthy' | 'fair' | 'warning' | 'unknown';

export interface Limit {
  healthy: number;
  warning: number;
  unit: 'ratio' | 's';
}

/** A limit whose `warning` is below its `healthy` is about something that should be high. */
export const kLimits = {
  success: { healthy: 0.99, warning: 0.95, unit: 'ratio' },
  meanPoll: { healthy: 2, warning: 5, unit: 's' },
  cpu: { healthy: 0.7, warning: 0.9, unit: 'ratio' },
  startLag: { healthy: 2, warning: 2, unit: 's' },
} as const satisfies Record<string, Limit>;

export function judge(limit: Limit, value: number | null | undefined): Verdict {
  if (value === null || value === undefined || !Number.isFinite(value)) return 'unknown';
  const high = limit.warning < limit.healthy;
  if (high ? value < limit.warning : value > limit.warning) return 'warning';
  if (high ? value > limit.healthy : value < limit.healthy || limit.healthy === limit.warning) return 'healthy';
  return 'fair';
}

const kTones: Record<Verdict, Tone> = { healthy: 'ok', fair: 'info', warning: 'warn', unknown: 'mute' };
const kWords: Record<Verdict, string> = { healthy: 'healthy', fair: 'fair', warning: 'warning', unknown: 'no data' };
/** As StateMark knows them: the shape tells it too. */
const kStates: Record<Verdict, string> = { healthy: 'ok', fair: 'info', warning: 'warning', unknown: 'unknown' };

export const toneOfVerdict = (verdict: Verdict): Tone => kTones[verdict];
export const wordOfVerdict = (verdict: Verdict): string => kWords[verdict];
export const stateOfVerdict = (verdict: Verdict): string => kStates[verdict];

/** "healthy below 2 s, warning above 5 s" */
export function explainLimit(limit: Limit): string {
  const show = (value: number) => (limit.unit === 's' ? duration(value) : percent(value, 0));
  const high = limit.warning < limit.healthy;
  if (limit.healthy === limit.warning) return `warning above ${show(limit.warning)}`;
  return high
    ? `healthy above ${show(limit.healthy)}, warning below ${show(limit.warning)}`
    : `healthy below ${show(limit.healthy)}, warning above ${show(limit.warning)}`;
}

interface QueueDay {
  day: { finished: number; failed: number; success_ratio?: number; mean?: number };
}

/** Of all classes together, weighted by what ended. */
export function wholeDay(queues: readonly QueueDay[]): { finished: number; failed: number; success: number | null; mean: number | null } {
  let finished = 0;
  let failed = 0;
  let good = 0;
  let busy = 0;
  for (const { day } of queues) {
    finished += day.finished;
    failed += day.failed;
    good += (day.success_ratio ?? 0) * day.finished;
    busy += (day.mean ?? 0) * day.finished;
  }
  return { finished, failed, success: finished === 0 ? null : good / finished, mean: finished === 0 ? null : busy / finished };
}
