import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RecentRuns } from './recent';
import { Target } from './target';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const settle = () => vi.advanceTimersByTimeAsync(0);

describe('the last polls of what is shown', () => {
  it('fills the sparkline, oldest first, without other tasks', async () => {
    const recent = new RecentRuns(() => Promise.resolve([{ task: 'a::b', duration: 3 }, { task: 'a::b#slow', duration: 99 }, { task: 'a::b', duration: 1 }]));
    const target = new Target('a::b');
    recent.want(target);
    await settle();
    expect(target.durations).toEqual([1, 3]);
  });

  it('asks once, few at a time, and not for what went out of sight', async () => {
    const asked: string[] = [];
    const answers: (() => void)[] = [];
    const recent = new RecentRuns((key) => {
      asked.push(key);
      return new Promise((resolve) => answers.push(() => resolve([])));
    });
    const targets = ['1', '2', '3', '4'].map((name) => new Target(name));
    const stops = targets.map((target) => recent.want(target));
    await settle();
    expect(asked).toEqual(['4', '3']);
    stops[1]?.();
    answers.forEach((answer) => answer());
    await settle();
    expect(asked).toEqual(['4', '3', '1']);
    recent.want(targets[3] as Target);
    await settle();
    expect(asked).toHaveLength(3);
  });

  it('stays within its budget and goes on later', async () => {
    let asked = 0;
    const recent = new RecentRuns(() => {
      asked += 1;
      return Promise.resolve([]);
    });
    for (let at = 0; at < 200; at += 1) recent.want(new Target(String(at)));
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toBe(90);
    await vi.advanceTimersByTimeAsync(65_000);
    expect(asked).toBe(180);
  });
});
