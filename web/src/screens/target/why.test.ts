import { describe, expect, it } from 'vitest';
import { decidingGate, gateSentence, headline, howOften, intervalSentences, limitSentence } from './why';
import type { Explanation, Gate } from './why';

const kNow = Date.parse('2026-01-02T03:04:05Z');
const kNames = ['enabled', 'due', 'needs', 'breaker', 'in flight', 'admission'];
const later = (seconds: number) => new Date(kNow + seconds * 1000).toISOString();

function story(closed: Partial<Record<string, Gate>> = {}, change: Partial<Explanation> = {}): Explanation {
  return {
    key: 'a::b', verdict: '', place: 'scheduled', attempts: 1, ready: false,
    gates: kNames.map((gate) => closed[gate] ?? { gate, open: true, reason: '' }),
    interval: {
      policy: 'optimal', shadow: false, changes_per_hour: 6, weight: 1, multiplier: 1.2, wished: 60, chosen: 15, in_force: 15.3, idle_drift: 0,
      limited_by: 'the stretch limit', pool_budget: 5.85, pool_planned: 4.8,
    },
    task: {
      key: 'a::b', class: 'a', place: 'scheduled', enabled: true, tier: 'normal', interval: 15, suggested: 15, bound: 60, staleness: 0, failures: 0,
      breaker: 'closed', dead_letter: 'none',
    },
    ...change,
  };
}

const due: Gate = { gate: 'due', open: false, until: later(12), reason: 'not yet, in 13 s' };
const breaker: Gate = { gate: 'breaker', open: false, until: later(9), reason: 'open after 3 failures in a row, next probe in 11 s' };

describe('why now', () => {
  it('counts down by itself', () => {
    expect(gateSentence(due, kNow)).toBe('Not yet: in 12 s.');
    expect(gateSentence(due, kNow + 12_000)).toBe('Now: it is about to start.');
    expect(headline(story({ due }), kNow)).toBe('It waits for its time: the next poll is in 12 s.');
  });
  it('lets the breaker speak before its timer', () => {
    const now = story({ due, breaker });
    expect(decidingGate(now)?.gate).toBe('breaker');
    now.task.failures = 3;
    expect(headline(now, kNow)).toBe('It failed 3 times in a row, so it is only probed: the next probe is in 9 s.');
    expect(gateSentence(breaker, kNow)).toBe('Yes, the breaker is open after 3 failures in a row; the next probe comes in 9 s.');
  });
  it('says in words why it is a dead letter', () => {
    const letter = { ...breaker, reason: 'open after 9 failures in a row (dead letter: max_retry_attempts), next probe in 11 s' };
    expect(gateSentence(letter, kNow)).toBe('Yes, the breaker is open after 9 failures in a row (dead letter: too many failures in a row); the next probe comes in 9 s.');
  });
  it('has a sentence for every gate, open and closed', () => {
    for (const gate of kNames) {
      expect(gateSentence({ gate, open: true, reason: '' }, kNow)).toMatch(/^(Yes|No),/);
      expect(gateSentence({ gate, open: false, reason: 'because' }, kNow)).toContain('because');
    }
  });
  it('tells a line, a run and a pause', () => {
    expect(headline(story({}, { ready: true, place_in_line: 3 }), kNow)).toBe('It is due; 3 others go first.');
    expect(headline(story({}, { ready: true, place_in_line: 0 }), kNow)).toBe('It is due and starts next.');
    expect(headline(story({ 'in flight': { gate: 'in flight', open: false, reason: 'run 1.2' } }), kNow)).toContain('right now');
    expect(headline(story({ enabled: { gate: 'enabled', open: false, reason: 'disabled, until somebody enables it' } }), kNow)).toContain('not polled');
    expect(headline(story({}, { place: 'faulted' }), kNow)).toContain('failed');
  });
  it('tells how the interval came about', () => {
    const text = intervalSentences(story()).join(' ');
    expect(text).toContain('about every 10 min');
    expect(text).toContain('worth a poll every 1 min');
    expect(text).toContain('limited by the stretch limit');
    expect(text).toContain('5.85 polls per second');
    expect(text).toContain('82 %');
    expect(text).not.toContain('ladder');
  });
  it('says that the ladder decides while it fails', () => {
    const failing = story();
    failing.task.failures = 2;
    expect(intervalSentences(failing)[0]).toContain('attempt 3 comes 15 s after');
  });
  it('says what a parent that is down does', () => {
    const behind = story();
    behind.interval = { ...behind.interval, limited_by: 'a parent down', chosen: 2.7, in_force: 20 };
    const text = intervalSentences(behind).join(' ');
    expect(text).toContain('what it stands behind is down');
    expect(text).toContain('every 20 s');
    expect(text).not.toContain('In force');
  });
  it('says little about a fixed interval', () => {
    const fixed = story();
    fixed.interval = { ...fixed.interval, policy: 'fixed', limited_by: 'a fixed interval', chosen: 0, in_force: 10 };
    expect(intervalSentences(fixed)).toHaveLength(1);
    expect(intervalSentences(fixed)[0]).toContain('every 10 s');
  });
  it('has words for every limit of the server', () => {
    for (const limit of ['nothing', 'the minimum', 'the stretch limit', 'the staleness bound', 'idle drift', 'a parent down', 'a fixed interval']) {
      expect(limitSentence(limit)).not.toContain('Limited by');
    }
    expect(howOften(0)).toBe('hardly ever');
    expect(howOften(0.001)).toBe('less than once a week');
  });
});
