import { describe, expect, it } from 'vitest';
import { Problem } from '../../api/problem';
import { curve, floorOf, steady } from './day';
import { bucketLabel, bucketWords, isLate, lagQuantile, lateShare, mergedCounts, shade } from './lag';
import { explainLimit, judge, kLimits, wholeDay } from './limits';
import { runPaced } from './paced';
import type { Progress } from './paced';
import { RateMeter } from './rate';

describe('the points of a day', () => {
  const point = (minute: number, mean?: number) => ({ at: new Date(Date.UTC(2026, 0, 2, 3, minute)).toISOString(), started: 1, ...(mean === undefined ? {} : { mean }) });
  it('break where steps are missing', () => {
    const points = steady([point(0, 1), point(5, 2), point(20, 3)], 300);
    expect(points.map((one) => one.time - (points[0]?.time ?? 0))).toEqual([0, 300, 600, 1200]);
    expect(curve(points, (one) => one.mean)).toEqual([1, 2, null, 3]);
    expect(curve(points, (one) => one.started)).toEqual([1, 1, null, 1]);
  });
  it('show percents from where it matters', () => {
    expect(floorOf([100, null, 99.2])).toBe(90);
    expect(floorOf([100, 87.5])).toBe(80);
    expect(floorOf([0.5])).toBe(0);
    expect(floorOf([])).toBe(90);
  });
  it('have gaps where nothing ended', () => {
    expect(curve(steady([point(0), point(5, 2)], 300), (one) => one.mean)).toEqual([null, 2]);
    expect(steady([], 300)).toEqual([]);
  });
});

describe('limits', () => {
  it('judges what should be high', () => {
    expect(judge(kLimits.success, 0.995)).toBe('healthy');
    expect(judge(kLimits.success, 0.99)).toBe('fair');
    expect(judge(kLimits.success, 0.95)).toBe('fair');
    expect(judge(kLimits.success, 0.949)).toBe('warning');
    expect(judge(kLimits.success, null)).toBe('unknown');
    expect(judge(kLimits.success, Number.NaN)).toBe('unknown');
  });
  it('judges what should be low', () => {
    expect(judge(kLimits.meanPoll, 0.2)).toBe('healthy');
    expect(judge(kLimits.meanPoll, 2)).toBe('fair');
    expect(judge(kLimits.meanPoll, 5)).toBe('fair');
    expect(judge(kLimits.meanPoll, 5.1)).toBe('warning');
    expect(judge(kLimits.cpu, 0.91)).toBe('warning');
    expect(judge(kLimits.startLag, 2)).toBe('healthy');
    expect(judge(kLimits.startLag, 2.01)).toBe('warning');
  });
  it('says what the limits are', () => {
    expect(explainLimit(kLimits.success)).toBe('healthy above 99 %, warning below 95 %');
    expect(explainLimit(kLimits.meanPoll)).toBe('healthy below 2 s, warning above 5 s');
    expect(explainLimit(kLimits.startLag)).toBe('warning above 2 s');
  });
  it('weighs classes by what ended', () => {
    const day = wholeDay([
      { day: { finished: 100, failed: 0, success_ratio: 1, mean: 1 } },
      { day: { finished: 300, failed: 150, success_ratio: 0.5, mean: 2 } },
      { day: { finished: 0, failed: 0 } },
    ]);
    expect(day).toEqual({ finished: 400, failed: 150, success: 0.625, mean: 1.75 });
    expect(wholeDay([]).success).toBeNull();
  });
});

describe('lag', () => {
  const bounds = [0.01, 0.1, 1, 5];
  it('finds quantiles inside their bucket', () => {
    expect(lagQuantile(bounds, [10, 0, 0, 0, 0], 0.5)).toBeCloseTo(0.005);
    expect(lagQuantile(bounds, [0, 10, 0, 0, 0], 0.5)).toBeCloseTo(0.055);
    expect(lagQuantile(bounds, [95, 0, 5, 0, 0], 0.95)).toBeCloseTo(0.01);
    expect(lagQuantile(bounds, [0, 0, 0, 0, 3], 0.95)).toBe(5);
    expect(lagQuantile(bounds, [0, 0, 0, 0, 0], 0.95)).toBeNull();
  });
  it('adds steps up', () => {
    expect(mergedCounts([[1, 2], [3, 4], []])).toEqual([4, 6]);
  });
  it('says buckets in words', () => {
    expect(bucketWords(bounds, 0)).toBe('up to 10 ms');
    expect(bucketWords(bounds, 1)).toBe('10 ms to 100 ms');
    expect(bucketWords(bounds, 4)).toBe('more than 5 s');
    expect(bucketLabel(bounds, 3)).toBe('≤ 5 s');
    expect(bucketLabel(bounds, 4)).toBe('> 5 s');
  });
  it('knows what is late', () => {
    expect([0, 1, 2, 3, 4].map((place) => isLate(bounds, place, 2))).toEqual([false, false, false, false, true]);
    expect(lateShare(bounds, [6, 0, 2, 0, 2], 1)).toBe(0.2);
    expect(lateShare(bounds, [], 1)).toBeNull();
  });
  it('shows even one among many', () => {
    expect(shade(0, 1000)).toBe(0);
    expect(shade(1, 1000)).toBeGreaterThan(0.2);
    expect(shade(1000, 1000)).toBe(1);
  });
});

describe('rate', () => {
  it('counts per second over its window', () => {
    const meter = new RateMeter(10_000);
    expect(meter.rate()).toBeNull();
    meter.add(0, 100);
    expect(meter.rate()).toBeNull();
    for (let second = 1; second <= 30; second += 1) meter.add(second * 1000, 100 + second * (second > 15 ? 5 : 1));
    expect(meter.rate()).toBeCloseTo(5);
  });
  it('begins anew after a break', () => {
    const meter = new RateMeter(10_000);
    meter.add(0, 0);
    meter.add(1000, 5);
    meter.add(3_600_000, 100_000);
    expect(meter.rate()).toBeNull();
    meter.add(3_601_000, 100_004);
    expect(meter.rate()).toBe(4);
  });
  it('begins anew when the counter fell', () => {
    const meter = new RateMeter();
    meter.add(0, 100);
    meter.add(1000, 110);
    meter.add(2000, 3);
    expect(meter.rate()).toBeNull();
    meter.add(3000, 7);
    expect(meter.rate()).toBe(4);
  });
});

describe('paced acts', () => {
  const tooOften = () => new Problem({ status: 429, code: 'api.rate', detail: 'too often', retryAfter: 7 });
  function bench() {
    const told: Progress[] = [];
    const waits: number[] = [];
    let stop = false;
    return {
      told,
      waits,
      stop: () => (stop = true),
      pace: {
        pause: async (wait: number) => (waits.push(wait), !stop),
        stopped: () => stop,
        tell: (progress: Progress) => void told.push(progress),
        now: () => 1000,
      },
    };
  }
  it('waits as the server says and does the same one again', async () => {
    const { told, waits, pace } = bench();
    const done: string[] = [];
    let refuse = true;
    const result = await runPaced(['a', 'b'], async (key) => {
      if (key === 'b' && refuse) {
        refuse = false;
        throw tooOften();
      }
      done.push(key);
    }, pace);
    expect(done).toEqual(['a', 'b']);
    expect(waits).toEqual([7000]);
    expect(told.some((one) => one.waitsUntil === 8000)).toBe(true);
    expect(result).toMatchObject({ done: 2, all: 2, failed: [], waitsUntil: null });
  });
  it('goes on after a failure and names it', async () => {
    const { pace } = bench();
    const result = await runPaced(['a', 'b', 'c'], async (key) => {
      if (key === 'b') throw new Problem({ status: 404, code: 'x', detail: 'gone' });
    }, pace);
    expect(result.done).toBe(2);
    expect(result.failed.map((one) => `${one.key}: ${one.problem.message}`)).toEqual(['b: gone']);
  });
  it('stops when asked to, and when the server is away', async () => {
    const first = bench();
    const result = await runPaced(['a', 'b'], async () => void first.stop(), first.pace);
    expect(result.done).toBe(1);
    const second = bench();
    let asked = 0;
    const away = await runPaced(['a', 'b'], async () => {
      asked += 1;
      throw new Problem({ status: 0, code: 'page.offline', detail: 'away' });
    }, second.pace);
    expect(asked).toBe(1);
    expect(away.failed).toHaveLength(1);
  });
});
