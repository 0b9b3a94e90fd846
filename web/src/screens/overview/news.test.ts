import { describe, expect, it } from 'vitest';
import type { LiveEvent } from '../../api/live';
import { addNews, newsOf } from './news';

const task = (kind: string, from: string, to: string, more = {}): LiveEvent => ({
  type: 'task_state_changed', seq: 1, at: '2026-01-02T03:04:05Z', key: 'snmp::sw-1#slow',
  data: { change: 7, kind, from, to, message: 'm', at: '2026-01-02T03:04:04Z', ...more },
});
const incident = (change: string, status: string, reason: string, version = 1): LiveEvent => ({
  type: 'incident_changed', seq: 2, at: '2026-01-02T03:04:05Z', key: 'i-1',
  data: { id: 'i-1', title: 'core-1 does not answer', severity: 'critical', status, change, reason, version },
});

describe('newsOf', () => {
  it('tells transitions in words', () => {
    expect(newsOf(task('health', 'up', 'down', { reason: 'no answer within 5 s' }))).toMatchObject({
      state: 'down', subject: 'snmp::sw-1', verb: 'Down', text: 'no answer within 5 s', link: { kind: 'target', key: 'snmp::sw-1' },
    });
    expect(newsOf(task('health', 'down', 'up'))).toMatchObject({ state: 'up', verb: 'Up again' });
    expect(newsOf(task('enabled', 'enabled', 'disabled'))).toMatchObject({ verb: 'Disabled' });
  });
  it('leaves out what is not worth a line', () => {
    expect(newsOf(task('health', 'unknown', 'up'))).toBeNull();
    expect(newsOf(task('budget', 'a', 'b'))).toBeNull();
    expect(newsOf(incident('updated', 'open', 'member'))).toBeNull();
  });
  it('tells incidents', () => {
    expect(newsOf(incident('created', 'open', 'opened'))).toMatchObject({ state: 'critical', verb: 'Opened, critical', link: { kind: 'incident', key: 'i-1' } });
    expect(newsOf(incident('resolved', 'resolved', 'x'))).toMatchObject({ state: 'resolved', verb: 'Resolved' });
  });
});

describe('addNews', () => {
  it('puts what is told later but happened before where it belongs', () => {
    const at = (minute: number, change: number) => task('health', 'up', 'down', { change, at: `2026-01-02T03:${minute}:00Z` });
    const near = addNews([], [at(30, 3), at(40, 4)]);
    expect(addNews(near, [at(10, 1), at(20, 2)]).map((one) => one.id)).toEqual(['t4', 't3', 't2', 't1']);
  });
  it('puts the newest first, each once, within its bound', () => {
    const first = addNews([], [task('health', 'up', 'down'), incident('created', 'open', 'opened')]);
    expect(first.map((one) => one.id)).toEqual(['ii-1.1', 't7']);
    expect(addNews(first, [task('health', 'up', 'down')])).toBe(first);
    expect(addNews(first, [incident('resolved', 'resolved', '', 2)], 2).map((one) => one.id)).toEqual(['ii-1.2', 'ii-1.1']);
  });
});
