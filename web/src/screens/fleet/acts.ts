// Acts on the targets that are selected.
import { plural } from '../../logic/format';
import { bulk } from '../../parts/bulk_acts';
import type { BulkOp } from '../../parts/bulk_acts';
import { matcher } from '../../parts/silence';

export type Act = BulkOp;

export const kMostSilenced = 100;

const kWords: Record<Exclude<Act, 'poll'>, { title: string; done: string; text: string }> = {
  enable: { title: 'Enable', done: 'enabled', text: 'They are polled again, and raise alerts again.' },
  disable: { title: 'Disable', done: 'disabled', text: 'They are not polled until somebody enables them; what is known of them stays.' },
};

export function act(op: Act, keys: readonly string[]): Promise<boolean> {
  if (op === 'poll') return bulk({ op, done: 'polled now' }, keys);
  const { title, done, text } = kWords[op];
  return bulk({ op, done, question: { title: `${title} ${plural(keys.length, 'target')}?`, text, action: title, danger: op === 'disable', reason: 'optional' } }, keys);
}

/** Matchers of a silence for exactly these targets. */
export function matchersFor(keys: readonly string[]): string[] {
  if (keys.length === 1) return [matcher('target', keys[0] ?? '')];
  const escaped = keys.map((key) => key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return [matcher('target', escaped.join('|'), '=~')];
}
