// One act on many targets: asked for once, done in parts that fit into a request, and told in one line.
import { api } from '../api/client';
import type { BulkResult } from '../api/model';
import { confirm, toast, toastProblem } from '../design';
import type { Question } from '../design';
import { plural } from '../logic/format';
import { fleet } from '../state/fleet';

export type BulkOp = 'poll' | 'enable' | 'disable';

export interface BulkAct {
  op: BulkOp;
  /** What is asked first; without it, it is done at once. */
  question?: Question;
  /** "paused": what they are then. */
  done: string;
  /** " of core-1": whose targets they are. */
  of?: string;
}

const kAtOnce = 1000;

/** False if nobody wanted it, or it could not be asked for. */
export async function bulk(act: BulkAct, keys: readonly string[]): Promise<boolean> {
  const answer = act.question ? await confirm(act.question) : { reason: '' };
  if (answer === null) return false;
  try {
    tell(act, await inParts(act.op, keys, answer.reason));
    if (act.op !== 'poll') void fleet.refresh();
    return true;
  } catch (error) {
    toastProblem(error, `${plural(keys.length, 'target')}${act.of ?? ''} could not be ${act.done}`);
    return false;
  }
}

async function inParts(op: BulkOp, keys: readonly string[], reason: string): Promise<BulkResult[]> {
  const results: BulkResult[] = [];
  for (let at = 0; at < keys.length; at += kAtOnce) {
    const operations = keys.slice(at, at + kAtOnce).map((key) => ({ op, key }));
    const answer = await api.post<{ results: BulkResult[] }>('api/targets/bulk', reason === '' ? { operations } : { operations, reason });
    results.push(...answer.results);
  }
  return results;
}

function tell(act: BulkAct, results: readonly BulkResult[]): void {
  const number = (result: BulkResult['result']) => results.filter((one) => one.result === result).length;
  const targets = (many: number) => `${plural(many, 'target')}${act.of ?? ''}`;
  const failed = results.find((one) => one.result === 'failed');
  const same = number('unchanged');
  if (number('done') > 0 || failed === undefined) {
    toast('ok', `${targets(number('done'))} ${act.done}`, same > 0 ? `${plural(same, 'target')} already ${same === 1 ? 'was' : 'were'}` : undefined);
  }
  if (failed !== undefined) toast('bad', `${targets(number('failed'))} could not be ${act.done}`, `${failed.key}: ${failed.detail ?? ''}`);
}
