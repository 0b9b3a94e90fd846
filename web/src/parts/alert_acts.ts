// What people do about alerts, for one and for many.
import { api, path } from '../api/client';
import { confirm, toast, toastProblem } from '../design';
import { plural } from '../logic/format';
import type { AckBody } from './AckDialog';

export type Verb = 'acknowledge' | 'unacknowledge' | 'resolve' | 'remove';

interface BulkAnswer {
  changed: number;
  results: { id: string; result: string; detail?: string }[];
  more: boolean;
}

const kDone: Record<Verb, string> = {
  acknowledge: 'acknowledged',
  unacknowledge: 'not acknowledged any more',
  resolve: 'resolved',
  remove: 'forgotten',
};

/** At most 1000 in one request; more are done in turns. Throws what the server said. */
export async function changeAlerts(verb: Verb, ids: readonly string[], body: AckBody & { reason?: string } = {}): Promise<void> {
  let changed = 0;
  let refused = '';
  for (let from = 0; from < ids.length; from += 1000) {
    const answer = await api.post<BulkAnswer>('api/alerts/bulk', { verb, ids: ids.slice(from, from + 1000), ...body });
    changed += answer.changed;
    refused = answer.results?.find((one) => one.detail !== undefined && one.detail !== '')?.detail ?? refused;
  }
  const rest = ids.length - changed;
  toast(
    changed > 0 ? 'ok' : 'info',
    `${plural(changed, 'alert')} ${changed === 1 ? 'is' : 'are'} ${kDone[verb]}`,
    rest > 0 ? `${plural(rest, 'alert')} unchanged${refused === '' ? '' : `: ${refused}`}` : undefined,
  );
}

export async function resolveAlerts(ids: readonly string[], title: string): Promise<boolean> {
  const yes = await confirm({
    title: ids.length === 1 ? 'Resolve this alert?' : `Resolve ${plural(ids.length, 'alert')}?`,
    text: `${title}: it counts as over, whatever devices say. If it is not, the next poll raises a new alert.`,
    action: 'Resolve',
    danger: true,
    reason: 'required',
  });
  if (yes === null) return false;
  try {
    await changeAlerts('resolve', ids, { note: yes.reason });
    return true;
  } catch (error) {
    toastProblem(error, 'Nothing was resolved');
    return false;
  }
}

export async function unacknowledge(ids: readonly string[]): Promise<boolean> {
  try {
    await changeAlerts('unacknowledge', ids);
    return true;
  } catch (error) {
    toastProblem(error, 'The acknowledgement could not be taken back');
    return false;
  }
}

export async function removeAlert(id: string): Promise<boolean> {
  const yes = await confirm({
    title: 'Forget this alert?',
    text: 'It is removed with its timeline. The audit trail keeps that you did so.',
    action: 'Forget it',
    danger: true,
    reason: 'required',
  });
  if (yes === null) return false;
  try {
    await api.full('DELETE', path`api/alerts/${id}`, { body: { reason: yes.reason } });
    toast('ok', 'The alert is forgotten');
    return true;
  } catch (error) {
    toastProblem(error, 'The alert could not be removed');
    return false;
  }
}
