import { describe, expect, it } from 'vitest';
import { chartKey, placeOf } from './chart_keys';
import type { ChartStep, ChartView } from './chart_keys';

// 101 samples, ten seconds apart, with nothing at 500.
const kTimes = Array.from({ length: 101 }, (_, place) => place * 10);
const view = (step: Partial<ChartStep> = {}): ChartView => ({ times: kTimes, has: (place) => place !== 50, at: null, zoom: null, ...step });
const press = (keys: string, start: Partial<ChartStep> = {}): ChartStep => {
  let now: ChartStep = { at: null, zoom: null, ...start };
  for (const one of keys.split(' ')) now = chartKey(one.replace('Shift', ''), one.startsWith('Shift'), view(now)) ?? now;
  return now;
};

describe('the keys of a chart', () => {
  it('read the newest sample first, then go along', () => {
    expect(press('ArrowLeft').at).toBe(1000);
    expect(press('ArrowLeft ArrowLeft ArrowLeft').at).toBe(980);
    expect(press('Home').at).toBe(0);
    expect(press('Home ArrowLeft').at).toBe(0);
    expect(press('Home PageDown').at).toBe(100);
    expect(press('Home PageDown PageUp End').at).toBe(1000);
  });
  it('step over what cannot be read', () => {
    expect(press('ArrowRight', { at: 490 }).at).toBe(510);
    expect(press('ArrowLeft', { at: 510 }).at).toBe(490);
    expect(chartKey('Home', false, { ...view(), has: (place) => place > 2 })?.at).toBe(30);
    expect(chartKey('ArrowRight', false, { ...view({ at: 20 }), has: (place) => place < 3 })?.at).toBe(20);
  });
  it('zoom around what is read, and out again to all', () => {
    expect(press('+').zoom).toEqual([250, 750]);
    expect(press('+', { at: 200 })).toEqual({ at: 200, zoom: [100, 600] });
    expect(press('= ShiftArrowUp').zoom).toEqual([375, 625]);
    expect(press('+ + - ShiftArrowDown').zoom).toBeNull();
    expect(press('_').zoom).toBeNull();
  });
  it('zoom no closer than a few samples', () => {
    const [from, to] = press('+ + + + + + + +').zoom ?? [0, 0];
    expect(to - from).toBeCloseTo(40);
  });
  it('move the window, up to the ends', () => {
    expect(press('+ ShiftArrowRight').zoom).toEqual([375, 875]);
    expect(press('+ ShiftArrowRight ShiftArrowRight ShiftArrowRight').zoom).toEqual([500, 1000]);
    expect(press('+ ShiftArrowLeft ShiftArrowLeft ShiftArrowLeft').zoom).toEqual([0, 500]);
    expect(press('ShiftArrowLeft').zoom).toBeNull();
  });
  it('take the window along when what is read leaves it', () => {
    expect(press('ArrowRight', { at: 600, zoom: [100, 600] })).toEqual({ at: 610, zoom: [110, 610] });
    expect(press('ArrowLeft', { at: 100, zoom: [100, 600] })).toEqual({ at: 90, zoom: [90, 590] });
    expect(press('Home', { zoom: [101, 600] }).at).toBe(110);
    expect(press('End', { zoom: [101, 599] }).at).toBe(590);
  });
  it('end with Escape, which is left to others when there is nothing to end', () => {
    expect(press('+ ArrowLeft Escape')).toEqual({ at: null, zoom: null });
    expect(chartKey('Escape', false, view())).toBeNull();
  });
  it('leave other keys to the page, and all of them when there is nothing', () => {
    for (const key of ['ArrowUp', 'ArrowDown', 'j', '?', 'Tab', 'Enter']) expect(chartKey(key, false, view())).toBeNull();
    expect(chartKey('ArrowLeft', false, { ...view(), times: [] })).toBeNull();
    expect(chartKey('ArrowLeft', false, { ...view(), times: [7], has: () => true })).toEqual({ at: 7, zoom: null });
  });
});

describe('the nearest sample', () => {
  it('is found from both sides', () => {
    expect(placeOf(kTimes, 14)).toBe(1);
    expect(placeOf(kTimes, 16)).toBe(2);
    expect(placeOf(kTimes, -5)).toBe(0);
    expect(placeOf(kTimes, 5000)).toBe(100);
  });
});
