import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Target } from './target';
import { FreshValues } from './values';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Targets of which newer values are known to be there. */
const overtaken = (count: number) =>
  Array.from({ length: count }, (_, at) => {
    const target = new Target(`ping::sw-${at}`);
    target.overtaken = 1000 - at;
    return target;
  });

describe('values of what is shown', () => {
  it('asks for those that are not of the newest answer, the oldest first, and only while they are shown', async () => {
    const asked: (readonly string[])[] = [];
    const targets = overtaken(3);
    const values = new FreshValues(async (keys) => {
      asked.push(keys);
      for (const target of targets) if (keys.includes(target.key)) target.overtaken = null;
    }, () => false);
    const stops = targets.map((target) => values.want(target));
    stops[1]?.();
    await vi.advanceTimersByTimeAsync(400);
    expect(asked).toEqual([['ping::sw-2', 'ping::sw-0']]);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(asked).toHaveLength(1);
    (targets[0] as Target).overtaken = 2000;
    await vi.advanceTimersByTimeAsync(4000);
    expect(asked[1]).toEqual(['ping::sw-0']);
    stops.forEach((stop) => stop());
    (targets[0] as Target).overtaken = 3000;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(asked).toHaveLength(2);
  });

  it('asks for some at once, waits after a failure, and is silent while nobody looks', async () => {
    const lots: number[] = [];
    let away = false;
    const values = new FreshValues(async (keys) => {
      lots.push(keys.length);
      if (lots.length > 1) throw new Error('no answer');
    }, () => away);
    for (const target of overtaken(60)) values.want(target);
    await vi.advanceTimersByTimeAsync(700);
    expect(lots).toEqual([50, 50]);
    await vi.advanceTimersByTimeAsync(3000);
    expect(lots).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(2000);
    expect(lots).toHaveLength(3);
    away = true;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(lots).toHaveLength(3);
  });
});
