// What people do with targets, with the result shown.
import { api, path } from '../api/client';
import { live } from '../api/live';
import type { PollResultData } from '../api/model';
import { confirm, toast, toastProblem } from '../design';
import { duration } from '../logic/format';
import { fleet } from '../state/fleet';
import { targetOf } from '../state/fleet_book';

const kLongestWait = 60_000;

/** Polls now and tells the result when it comes. */
export async function pollNow(key: string): Promise<boolean> {
  const stop = live.on<PollResultData>(['poll_result'], (events) => {
    const mine = events.find((event) => event.key !== undefined && targetOf(event.key) === key);
    if (mine === undefined) return;
    end();
    const good = mine.data.outcome === 'ok' || mine.data.outcome === 'degraded';
    if (good) toast('ok', `${key} answered in ${duration(mine.data.duration)}`, mine.data.outcome === 'degraded' ? 'The answer says that it is degraded.' : undefined);
    else toast('bad', `${key} did not answer well`, `${mine.data.code ?? mine.data.outcome}, after ${duration(mine.data.duration)}`);
  });
  const timer = setTimeout(() => {
    end();
    toast('info', `Nothing was heard of ${key} for a minute`, 'It may still wait for its turn; its runs show what came of it.');
  }, kLongestWait);
  const end = () => {
    clearTimeout(timer);
    stop();
  };
  try {
    await api.post(path`api/targets/${key}/poll`, {});
    toast('info', `${key} is polled now`, 'Inside all limits; the result is told here when it comes.');
    return true;
  } catch (error) {
    end();
    toastProblem(error, `${key} could not be polled`);
    return false;
  }
}

export async function pauseTarget(key: string): Promise<boolean> {
  const yes = await confirm({
    title: `Pause ${key}?`,
    text: 'It is not polled until somebody enables it again. Its history and settings stay.',
    action: 'Pause',
    reason: 'required',
  });
  if (yes === null) return false;
  return act(() => api.post(path`api/targets/${key}/disable`, { reason: yes.reason }), `${key} is paused`, `${key} could not be paused`);
}

export function enableTarget(key: string): Promise<boolean> {
  return act(() => api.post(path`api/targets/${key}/enable`, {}), `${key} is polled again`, `${key} could not be enabled`);
}

export async function deleteTarget(key: string): Promise<boolean> {
  const yes = await confirm({
    title: `Delete ${key}?`,
    text: 'The addon is taken off its device and polling ends. A device without addons goes too. This cannot be undone; the audit trail keeps that you did it.',
    action: 'Delete',
    danger: true,
    reason: 'required',
  });
  if (yes === null) return false;
  return act(() => api.full('DELETE', path`api/targets/${key}`, { body: { reason: yes.reason } }), `${key} is deleted`, `${key} could not be deleted`);
}

export async function deleteDevice(name: string): Promise<boolean> {
  const yes = await confirm({
    title: `Delete ${name}?`,
    text: 'The device is removed with all its targets. This cannot be undone; the audit trail keeps that you did it.',
    action: 'Delete the device',
    danger: true,
    reason: 'required',
  });
  if (yes === null) return false;
  return act(() => api.full('DELETE', path`api/devices/${name}`, { body: { reason: yes.reason } }), `${name} is deleted`, `${name} could not be deleted`);
}

async function act(run: () => Promise<unknown>, done: string, failed: string): Promise<boolean> {
  try {
    await run();
    toast('ok', done);
    void fleet.refresh();
    return true;
  } catch (error) {
    toastProblem(error, failed);
    return false;
  }
}
