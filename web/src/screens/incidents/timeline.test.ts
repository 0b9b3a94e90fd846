import { describe, expect, it } from 'vitest';
import type { TimelineEntry } from '../../parts/model';
import { steps } from './timeline';

let number = 0;
const entry = (second: number, kind: string, alert: string | undefined, cause = '', by?: string): TimelineEntry => ({
  number: ++number, at: new Date(second * 1000).toISOString(), kind, cause, ...(alert ? { alert } : {}), ...(by ? { by } : {}),
});

describe('the timeline of an incident', () => {
  it('says once what the server writes twice', () => {
    const found = steps([
      entry(1, 'incident_joined', 'a', 'confirmed'), entry(1, 'activated', 'a', 'confirmed'), entry(1, 'incident_opened', undefined, 'core-1 does not answer'),
    ]);
    expect(found.map((one) => one.kind)).toEqual(['activated', 'incident_opened']);
    expect(found[0]?.text).toBe('alert confirmed and active');
  });
  it('joins what happened to many alerts together', () => {
    const found = steps([
      entry(10, 'acknowledged', 'a', 'on my way', 'user:eve'), entry(10, 'released', 'a', 'acknowledged', 'user:eve'),
      entry(10, 'acknowledged', 'b', 'on my way', 'user:eve'), entry(10, 'acknowledged', 'c', 'on my way', 'user:eve'),
    ]);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ text: '3 alerts acknowledged', by: 'eve', detail: 'on my way', alerts: ['a', 'b', 'c'] });
  });
  it('keeps apart what came later or has another cause', () => {
    const found = steps([entry(10, 'suppressed', 'a', 'parent'), entry(12, 'suppressed', 'b', 'parent'), entry(90, 'suppressed', 'c', 'parent'), entry(91, 'suppressed', 'd', 'observer')]);
    expect(found.map((one) => one.alerts.length)).toEqual([2, 1, 1]);
    expect(found[0]?.detail).toBe('what it stands behind is down');
  });
  it('never joins notes, and shows their words', () => {
    const found = steps([entry(1, 'note', undefined, 'vendor called', 'user:eve'), entry(1, 'note', undefined, 'vendor called', 'user:eve')]);
    expect(found).toHaveLength(2);
    expect(found[0]?.detail).toBe('vendor called');
  });
  it('shows kinds that it does not know', () => {
    expect(steps([entry(1, 'something_new', 'a')])[0]?.text).toBe('something new');
  });
});
