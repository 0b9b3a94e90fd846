import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Change } from './model';
import { kWorst, lengthsOf, stretchAt, stretchByKey, stretchesOf, stripFacts, thinned } from './state_strip';

const kHour = 3_600_000;
const change = (number: number, hour: number, to: string, from = '', kind = 'health'): Change => ({
  number, at: new Date(hour * kHour).toISOString(), kind, from, to, message: `target is ${to}`, failures: 0,
});

describe('the strip of states', () => {
  it('is unknown before the first transition and holds the last state until now', () => {
    const found = stretchesOf([change(1, 2, 'up', 'unknown')], 0, 10 * kHour);
    expect(found.map((one) => [one.state, one.from / kHour, one.to / kHour])).toEqual([['unknown', 0, 2], ['up', 2, 10]]);
  });
  it('believes the present when nothing was ever recorded, and no word about the time before the first record', () => {
    expect(stretchesOf([], 0, 10, 'up')).toEqual([{ state: 'up', from: 0, to: 10, message: '' }]);
    expect(stretchesOf([change(1, 2, 'down', 'up')], 0, 10 * kHour, 'down').map((one) => one.state)).toEqual(['unknown', 'down']);
  });
  it('takes what was before the window from older transitions', () => {
    const found = stretchesOf([change(3, 6, 'up', 'down'), change(2, 1, 'down', 'up'), change(1, 0, 'up', 'unknown')], 4 * kHour, 10 * kHour);
    expect(found.map((one) => one.state)).toEqual(['down', 'up']);
    expect(found[0]?.to).toBe(6 * kHour);
  });
  it('shows a pause as disabled, and does not know what is after it', () => {
    const found = stretchesOf(
      [change(1, 0, 'up', 'unknown'), change(2, 2, 'disabled', 'enabled', 'enabled'), change(3, 4, 'enabled', 'disabled', 'enabled'), change(4, 5, 'up', 'unknown')],
      1, 6 * kHour,
    );
    expect(found.map((one) => one.state)).toEqual(['up', 'disabled', 'unknown', 'up']);
  });
  it('leaves breakers and dead letters out', () => {
    const found = stretchesOf([change(1, 0, 'up', 'unknown'), change(2, 1, 'open', 'closed', 'breaker')], 0, 2 * kHour);
    expect(found).toHaveLength(1);
  });
  it('counts uptime over the time that is known', () => {
    const facts = stripFacts([change(1, 5, 'up', 'unknown'), change(2, 8, 'down', 'up'), change(3, 9, 'up', 'down')], 0, 10 * kHour);
    expect(facts.uptime).toBeCloseTo(0.8);
    expect(facts.down).toBe(3600);
    expect(facts.outages).toBe(1);
    expect(stripFacts([], 0, kHour).uptime).toBeNull();
  });
  it('keeps the worst of stretches that are too short to be seen', () => {
    const many = stretchesOf([change(1, 0, 'up', 'unknown'), change(2, 5, 'down', 'up'), change(3, 5.01, 'up', 'down')], 1, 10 * kHour);
    const few = thinned(many, 0.2 * kHour);
    expect(few.some((one) => one.state === 'down')).toBe(true);
    expect(few[0]?.from).toBe(many[0]?.from);
    expect(few[few.length - 1]?.to).toBe(10 * kHour);
  });
  it('is read stretch by stretch, from the newest one on', () => {
    const [up, down, again] = stretchesOf([change(1, 0, 'up', 'unknown'), change(2, 5, 'down', 'up'), change(3, 6, 'up', 'down')], 1, 10 * kHour);
    const all = [up, down, again].map((one) => one as NonNullable<typeof one>);
    const key = (name: string, now: (typeof all)[number] | null = null) => stretchByKey(all, now, name);
    expect(key('ArrowLeft')).toBe(again);
    expect(key('ArrowRight')).toBe(again);
    expect(key('ArrowLeft', all[1])).toBe(up);
    expect(key('ArrowLeft', all[0])).toBe(up);
    expect(key('ArrowRight', all[1])).toBe(again);
    expect([key('Home', all[2]), key('End', all[0])]).toEqual([up, again]);
    expect(key('Tab', all[0])).toBeUndefined();
    expect(stretchAt(all, 5.5 * kHour)).toBe(down);
    expect(stretchAt(all, 10 * kHour)).toBeNull();
    expect(stretchAt(all, null)).toBeNull();
  });
  it('tells how long each state was, the worst first', () => {
    const found = lengthsOf(stretchesOf([change(1, 0, 'up', 'unknown'), change(2, 5, 'down', 'up'), change(3, 6, 'up', 'down')], 0, 10 * kHour));
    expect([...found]).toEqual([['down', 3600], ['up', 9 * 3600]]);
  });
  it('has a pattern or a height for each state, not only a colour', () => {
    const rules = new Map<string, string>();
    for (const found of readFileSync('src/parts/parts.css', 'utf8').matchAll(/\.strip-part\.state-(\w+) \{([^}]*)\}/g)) {
      // Colours do not count.
      rules.set(found[1] ?? '', (found[2] ?? '').replaceAll(/var\(--[\w-]+\)|rgb\([^)]*\)/g, '').replaceAll(/\s+/g, ' '));
    }
    expect([...rules.keys()].sort()).toEqual([...kWorst].sort());
    expect(new Set(rules.values()).size).toBe(kWorst.length);
  });
});
