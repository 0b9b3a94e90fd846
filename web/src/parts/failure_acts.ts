// What can be done about breakers and dead letters, by whoever may manage monitoring: one, some, or all; with
// a reason for the audit trail; and what came of it in words.
import { api, path } from '../api/client';
import { confirm, toast, toastProblem } from '../design';
import { plural } from '../logic/format';

// A body of a request has a limit; keys are at most some hundred bytes.
const kAtOnce = 200;

export interface Choice {
  keys: readonly string[];
  /** Everything there is, also what came since the list was read. */
  all?: boolean;
}

function parts(choice: Choice): (readonly string[] | undefined)[] {
  if (choice.all) return [undefined];
  const found: (readonly string[])[] = [];
  for (let at = 0; at < choice.keys.length; at += kAtOnce) found.push(choice.keys.slice(at, at + kAtOnce));
  return found;
}

interface Act {
  /** "Reset": the button, and the title with what it is about. */
  verb: string;
  noun: string;
  everything: string;
  text: string;
  one: (key: string) => string;
  many: string;
  /** Where the answer of `many` says how many were done. */
  counted: 'breakersReset' | 'tasksRetried';
  done: (number: number) => string;
}

/** How many were done; null if nobody wanted it or nothing could be done. */
async function run(act: Act, choice: Choice): Promise<number | null> {
  const one = !choice.all && choice.keys.length === 1 ? (choice.keys[0] as string) : null;
  const what = one ?? (choice.all ? act.everything : plural(choice.keys.length, act.noun));
  const yes = await confirm({ title: `${act.verb} ${what}?`, text: act.text, action: act.verb, reason: 'optional' });
  if (yes === null) return null;
  try {
    let done = 0;
    if (one !== null) {
      await api.post(act.one(one), { reason: yes.reason });
      done = 1;
    } else {
      for (const keys of parts(choice)) {
        const answer = await api.post<Record<Act['counted'], number>>(act.many, { reason: yes.reason, ...(keys ? { keys } : {}) });
        done += answer[act.counted];
      }
    }
    toast('ok', done === 0 ? `There was nothing to ${act.verb.toLowerCase()}.` : act.done(done));
    return done;
  } catch (error) {
    toastProblem(error, `The ${act.verb.toLowerCase()} failed`);
    return null;
  }
}

const kReset: Act = {
  verb: 'Reset',
  noun: 'breaker',
  everything: 'all breakers that are not closed',
  text: 'A probe is made now, inside all limits; many are spread. A dead letter among them is retried too. A probe that fails goes back to where it was, with its history.',
  one: (key) => path`api/monitoring/breakers/${key}/reset`,
  many: 'api/monitoring/breakers/reset',
  counted: 'breakersReset',
  done: (number) => `${plural(number, 'probe')} due now.`,
};

const kRetry: Act = {
  verb: 'Retry',
  noun: 'dead letter',
  everything: 'all dead letters',
  text: 'Each is probed now, inside all limits; many are spread, so that at most 1.2 times the usual rate starts. One that fails again stays a dead letter.',
  one: (key) => path`api/monitoring/dlq/${key}/retry`,
  many: 'api/monitoring/dlq/retry',
  counted: 'tasksRetried',
  done: (number) => `${plural(number, 'retry', 'retries')} due now.`,
};

export const resetBreakers = (choice: Choice): Promise<number | null> => run(kReset, choice);
export const retryDeadLetters = (choice: Choice): Promise<number | null> => run(kRetry, choice);
