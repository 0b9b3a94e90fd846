import { createEffect, createRoot } from 'solid-js';
import { describe, expect, it, vi } from 'vitest';
import type { LiveEvent } from '../api/live';
import type { FleetSnapshot, TargetState } from '../api/model';
import { quickest } from '../testing/quickest';
import { FleetBook, targetOf } from './fleet_book';
import type { Target } from './target';

const kBegin = Date.parse('2026-01-02T03:00:00Z');
const at = (seconds: number) => new Date(kBegin + seconds * 1000).toISOString();

function snapshot(states: TargetState[], seq = 100): FleetSnapshot {
  const each = <T>(value: (row: number) => T) => states.map((_, row) => value(row));
  return {
    time: at(0), seq, version: `7.1.${seq}`, partial: false, groups: ['berlin', 'core'], label_sets: [{ site: 'b' }], count: states.length,
    columns: {
      key: each((row) => `ping::sw-${row}`), device: each((row) => `sw-${row}`), addon: each(() => 'ping'),
      address: each(() => '192.0.2.1'), groups: each(() => [0, 1]), labels: each(() => 0),
      region: each(() => 'eu'), parents: each((row) => (row === 1 ? ['sw-0'] : [])), state: states, since_ms: each(() => null),
      tier: each(() => 'normal' as const), interval: each(() => 20), suggested: each(() => 20),
      next_due_ms: each(() => kBegin + 20_000), last_success_ms: each(() => kBegin), bound: each(() => 60),
      failures: each(() => 0), breaker: each(() => 'closed' as const), dead_letter: each(() => ''),
      problem: each(() => ''), severity: each(() => '' as const), alerts: each(() => 0),
      acknowledged: each(() => false), duration: each(() => 0.01), lag: each(() => null), headline: each(() => []),
    },
  };
}

function filled(states: TargetState[]): FleetBook {
  const book = new FleetBook();
  const taken = snapshot(states);
  book.take(taken, 0, taken.count);
  book.finish(taken);
  return book;
}

let seq = 100;
const event = (type: string, key: string, data: object): LiveEvent => ({ type, seq: (seq += 1), at: at(0), key, data });

describe('the book of the fleet', () => {
  it('takes a snapshot with its dictionaries', () => {
    const book = filled(['up', 'down']);
    expect(book.targets.map((target) => target.key)).toEqual(['ping::sw-0', 'ping::sw-1']);
    expect(book.targets[0]?.groups).toEqual(['berlin', 'core']);
    expect(book.targets[0]?.labels).toEqual({ site: 'b' });
    expect(book.counts()).toMatchObject({ up: 1, down: 1, stale: 0 });
  });

  it('keeps the same objects and array when nobody came or went', () => {
    const book = filled(['up', 'up']);
    const before = book.targets;
    const next = snapshot(['down', 'up'], 200);
    book.take(next, 0, 2);
    expect(book.finish(next)).toBe(false);
    expect(book.targets).toBe(before);
    expect(before[0]?.state).toBe('down');
  });

  it('forgets who is gone', () => {
    const book = filled(['up', 'up', 'up']);
    const next = snapshot(['up'], 200);
    book.take(next, 0, 1);
    expect(book.finish(next)).toBe(true);
    expect([...book.byKey.keys()]).toEqual(['ping::sw-0']);
  });

  it('takes results with their lag', () => {
    const book = filled(['up']);
    const applied = book.apply([
      event('poll_result', 'ping::sw-0', { outcome: 'ok', at: at(21), duration: 0.5, lag: 0.5, failures: 0, next_due: at(41) }),
    ]);
    const target = book.targets[0];
    expect(applied).toEqual({ changed: 1, reordered: false, incomplete: false });
    expect(target?.lastSuccess).toBe(kBegin + 21_000);
    expect(target?.lag).toBeCloseTo(0.5);
    expect(target?.durations).toEqual([0.5]);
  });

  it('keeps the time of its values apart from that of the newest answer', () => {
    const book = filled(['up']);
    const target = book.targets[0] as Target;
    expect(target.headlineAt).toBe(kBegin);
    expect(target.headlineAge(kBegin + 3_600_000)).toBeNull();
    const poll = (seconds: number) => book.apply([event('poll_result', 'ping::sw-0', { outcome: 'ok', at: at(seconds), duration: 0.5, failures: 0 })]);
    poll(21);
    expect(target.headlineAge(kBegin + 23_000)).toBeNull(); // the next snapshot may be on its way
    poll(41);
    expect(target.lastSuccess).toBe(kBegin + 41_000);
    expect(target.headlineAge(kBegin + 42_000)).toBe(42);
    const next = snapshot(['up'], 200);
    next.columns.last_success_ms = [kBegin + 41_000];
    book.take(next, 0, 1);
    expect(target.headlineAge(kBegin + 60_000)).toBeNull();
  });

  it('takes the values of a few targets and leaves the rest as events told it', () => {
    const book = filled(['up', 'up']);
    const [first, second] = book.targets as [Target, Target];
    const poll = (key: string, seconds: number) => book.apply([event('poll_result', key, { outcome: 'ok', at: at(seconds), duration: 0.5, failures: 0, next_due: at(seconds + 20) })]);
    poll(first.key, 21);
    poll(second.key, 22);
    const some = snapshot(['up'], 200);
    some.partial = true;
    some.columns.last_success_ms = [kBegin + 21_000];
    some.columns.headline = [[{ name: 'cpu', value: 41 }]];
    book.takeValues(some);
    expect(first).toMatchObject({ headlineAt: kBegin + 21_000, overtaken: null, nextDue: kBegin + 41_000 });
    expect(first.headline[0]?.value).toBe(41);
    expect(second.overtaken).toBe(kBegin + 22_000);
    poll(first.key, 41);
    book.takeValues(some);
    expect(first.headlineAge(kBegin + 50_000)).toBe(29);
  });

  it('takes what changed, and goes on taking what was told of the others before that', () => {
    const book = filled(['up', 'up', 'up']);
    const change = snapshot(['down'], 300);
    change.partial = true;
    change.columns.key = ['ping::sw-1'];
    book.take(change, 0, 1);
    expect(book.finish(change)).toBe(false);
    expect(book.targets).toHaveLength(3);
    expect(book.counts()).toMatchObject({ up: 2, down: 1 });
    const late = (key: string, seq: number): LiveEvent => ({ type: 'task_state_changed', seq, at: at(0), key, data: { kind: 'breaker', to: 'open', at: at(0) } });
    book.apply([late('ping::sw-0', 299), late('ping::sw-1', 299)]);
    expect(book.targets.map((target) => target.breaker)).toEqual(['open', 'closed', 'closed']);
    expect(book.apply([late('ping::gone', 299)]).incomplete).toBe(false);
    expect(book.apply([late('ping::new', 301)]).incomplete).toBe(true);
  });

  it('leaves what other tasks of a target say to the next snapshot', () => {
    const book = filled(['up']);
    const slow = book.apply([event('poll_result', 'ping::sw-0#slow', { outcome: 'degraded', at: at(21), duration: 9, failures: 0, next_due: at(900) })]);
    expect(slow).toEqual({ changed: 0, reordered: false, incomplete: false });
    expect(book.targets[0]).toMatchObject({ state: 'up', lastSuccess: kBegin, duration: 0.01, nextDue: kBegin + 20_000 });
    expect(book.apply([event('task_state_changed', 'ping::sw-0#slow', { kind: 'health', to: 'down', at: at(1) })]).incomplete).toBe(true);
    expect(book.apply([event('task_state_changed', 'ping::sw-0', { kind: 'health', to: 'up', at: at(2) })]).incomplete).toBe(true);
    expect(book.targets[0]?.state).toBe('up');
  });

  it('follows degraded answers of a target with one task', () => {
    const book = filled(['up']);
    const poll = (outcome: string) => book.apply([event('poll_result', 'ping::sw-0', { outcome, at: at(3), duration: 0.1, failures: 0 })]);
    expect(poll('degraded').reordered).toBe(true);
    expect(book.targets[0]?.state).toBe('degraded');
    poll('ok');
    expect(book.targets[0]?.state).toBe('up');
    expect(poll('ok').reordered).toBe(false);
  });

  it('does not take what a snapshot already holds', () => {
    const book = filled(['up']);
    const old: LiveEvent = { type: 'task_state_changed', seq: 99, at: at(0), key: 'ping::sw-0', data: { kind: 'health', to: 'down', at: at(0) } };
    expect(book.apply([old]).changed).toBe(0);
    expect(book.targets[0]?.state).toBe('up');
  });

  it('follows transitions', () => {
    const book = filled(['up']);
    const change = (kind: string, to: string, more = {}) =>
      book.apply([event('task_state_changed', 'ping::sw-0', { kind, from: '', to, at: at(5), ...more })]);
    expect(change('health', 'down', { reason: 'no answer within 5 s', failures: 1 }).reordered).toBe(true);
    expect(book.targets[0]).toMatchObject({ state: 'down', problem: 'no answer within 5 s', failures: 1, since: kBegin + 5000 });
    change('breaker', 'open');
    change('dead_letter', 'exhausted');
    expect(book.targets[0]).toMatchObject({ breaker: 'open', deadLetter: 'exhausted' });
    change('dead_letter', 'none');
    change('health', 'up');
    expect(book.targets[0]).toMatchObject({ state: 'up', deadLetter: '', problem: '', lastSuccess: kBegin + 5000 });
  });

  it('asks for a snapshot when others may be behind the one that changed, and when it does not know a key', () => {
    const book = filled(['up', 'up', 'up']);
    const down = (key: string) => book.apply([event('task_state_changed', key, { kind: 'health', to: 'down', at: at(1) })]);
    expect(down('ping::sw-0').incomplete).toBe(true);
    expect(down('ping::sw-2').incomplete).toBe(false);
    expect(down('ping::new').incomplete).toBe(true);
  });

  it('shows what grew older than its bound as stale, and fresh again after an answer', () => {
    const book = filled(['up', 'down']);
    expect(book.age(kBegin + 59_000)).toBe(false);
    expect(book.age(kBegin + 61_000)).toBe(true);
    expect(book.counts()).toMatchObject({ stale: 1, down: 1 });
    book.apply([event('poll_result', 'ping::sw-0', { outcome: 'degraded', at: at(62), duration: 0.1, failures: 0 })]);
    expect(book.targets[0]?.state).toBe('degraded');
  });

  it('counts alerts until the next snapshot tells', () => {
    const book = filled(['up']);
    const alert = (type: string, severity: string) => book.apply([event(type, 'ping::sw-0', { severity, status: 'active' })]);
    expect(alert('alert_created', 'warning').incomplete).toBe(true);
    alert('alert_created', 'critical');
    expect(book.targets[0]).toMatchObject({ alerts: 2, severity: 'critical' });
    alert('alert_resolved', 'critical');
    alert('alert_resolved', 'warning');
    expect(book.targets[0]).toMatchObject({ alerts: 0, severity: '' });
  });

  it('tells only who looks, and once for changes of the same frame', () => {
    vi.useFakeTimers();
    const book = filled(['up', 'up']);
    const seen: string[] = [];
    const end = createRoot((dispose) => {
      createEffect(() => {
        book.targets[0]?.track();
        seen.push(book.targets[0]?.state ?? '');
      });
      return dispose;
    });
    const change = (key: string, to: string) => book.apply([event('task_state_changed', key, { kind: 'health', to, at: at(1) })]);
    change('ping::sw-1', 'down');
    vi.advanceTimersByTime(1000);
    expect(seen).toEqual(['up']);
    change('ping::sw-0', 'degraded');
    change('ping::sw-0', 'down');
    vi.advanceTimersByTime(1000);
    expect(seen).toEqual(['up', 'down']);
    end();
    vi.useRealTimers();
  });

  it('takes a burst of 1000 changes among 5000 targets well within a frame', () => {
    const book = filled(Array.from({ length: 5000 }, () => 'up' as const));
    const burst = Array.from({ length: 1000 }, (_, row) =>
      event('task_state_changed', `ping::sw-${row * 5}`, { kind: 'health', to: 'down', at: at(1) }));
    let down = 0;
    const took = quickest(() => {
      book.apply(burst);
      down = book.counts().down;
    });
    expect(down).toBe(1000);
    expect(took).toBeLessThan(50);
  });
});

describe('targetOf', () => {
  it('knows tasks of a target', () => {
    expect(targetOf('pve::node#slow')).toBe('pve::node');
    expect(targetOf('pve::node')).toBe('pve::node');
    expect(targetOf('pve::node#slow#2')).toBe('pve::node');
  });
});
