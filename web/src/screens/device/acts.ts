// What is done with all targets of a device at once.
import { plural } from '../../logic/format';
import { bulk } from '../../parts/bulk_acts';
import type { TargetObject } from '../../parts/model';

type Polled = Pick<TargetObject, 'key'> & { tasks: readonly { enabled: boolean }[] };

/** Those that are polled, and those that are paused, in part or whole; what only listens is neither. */
export const running = (targets: readonly Polled[]): string[] => targets.filter((one) => one.tasks.some((task) => task.enabled)).map((one) => one.key);
export const paused = (targets: readonly Polled[]): string[] => targets.filter((one) => one.tasks.some((task) => !task.enabled)).map((one) => one.key);

export function pollAll(device: string, targets: readonly Polled[]): Promise<boolean> {
  return bulk({ op: 'poll', done: 'polled now', of: ` of ${device}` }, targets.map((one) => one.key));
}

export function pauseAll(device: string, targets: readonly Polled[]): Promise<boolean> {
  const keys = running(targets);
  const text = `${plural(keys.length, 'target')} of it ${keys.length === 1 ? 'is' : 'are'} not polled until somebody resumes. History and settings stay.`;
  return bulk({ op: 'disable', done: 'paused', of: ` of ${device}`, question: { title: `Pause all of ${device}?`, text, action: 'Pause all', reason: 'required' } }, keys);
}

export function resumeAll(device: string, targets: readonly Polled[]): Promise<boolean> {
  const keys = paused(targets);
  const text = `${plural(keys.length, 'target')} of it ${keys.length === 1 ? 'is' : 'are'} polled again, and ${keys.length === 1 ? 'raises' : 'raise'} alerts again.`;
  return bulk({ op: 'enable', done: 'resumed', of: ` of ${device}`, question: { title: `Resume all of ${device}?`, text, action: 'Resume all', reason: 'optional' } }, keys);
}
