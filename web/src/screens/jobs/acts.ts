// What people do with jobs. Each asks where it must, does it, and says what came of it.
import { api, path } from '../../api/client';
import { confirm, toast, toastProblem } from '../../design';
import { plural } from '../../logic/format';
import type { Job } from './model';

export async function cancelJob(job: Job): Promise<boolean> {
  let behind = 0;
  try {
    behind = (await api.get<{ impact: string[] }>(path`api/jobs/${job.id}/impact`)).impact.length;
  } catch (error) {
    toastProblem(error, 'What depends on the job could not be looked up');
    return false;
  }
  const answer = await confirm({
    title: `Cancel ${job.name}?`,
    text:
      behind === 0
        ? 'No other job waits for it. A run under way is stopped.'
        : `${plural(behind, 'job')} behind it ${behind === 1 ? 'is' : 'are'} cancelled too. A run under way is stopped.`,
    action: behind === 0 ? 'Cancel the job' : `Cancel ${plural(behind + 1, 'job')}`,
    danger: true,
    reason: 'optional',
  });
  if (answer === null) return false;
  try {
    const query = behind > 0 ? { cascade: true } : {};
    const done = await api.post<{ cancelled: string[] }>(path`api/jobs/${job.id}/cancel`, { reason: answer.reason }, { query });
    toast('ok', `${plural(done.cancelled.length, 'job')} cancelled`);
    return true;
  } catch (error) {
    toastProblem(error, `${job.name} could not be cancelled`);
    return false;
  }
}

const kWords = {
  retry: { done: 'is tried again', failed: 'could not be tried again' },
  hold: { done: 'is held: it starts when somebody releases it', failed: 'could not be held' },
  release: { done: 'is released', failed: 'could not be released' },
} as const;

export async function steerJob(job: Job, verb: keyof typeof kWords): Promise<Job | null> {
  try {
    const now = await api.post<Job>(path`api/jobs/${job.id}/${verb}`, {});
    toast('ok', `${job.name} ${kWords[verb].done}`);
    return now;
  } catch (error) {
    toastProblem(error, `${job.name} ${kWords[verb].failed}`);
    return null;
  }
}

/** Several at once; those whose state does not allow it are counted and left alone. */
export async function steerMany(jobs: readonly Job[], verb: 'retry' | 'hold' | 'release' | 'cancel', reason = ''): Promise<void> {
  let done = 0;
  let last: unknown = null;
  for (const job of jobs) {
    try {
      await api.post(path`api/jobs/${job.id}/${verb}`, reason === '' ? {} : { reason });
      done += 1;
    } catch (error) {
      last = error;
    }
  }
  const words = { retry: 'tried again', hold: 'held', release: 'released', cancel: 'cancelled' } as const;
  if (done > 0) toast('ok', `${plural(done, 'job')} ${words[verb]}`);
  if (last !== null) toastProblem(last, `${plural(jobs.length - done, 'job')} could not be ${words[verb]}`);
}

