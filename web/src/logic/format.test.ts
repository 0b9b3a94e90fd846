import { describe, expect, it } from 'vitest';
import { axisSteps, bytes, compact, count, duration, measure, percent, plural, sentence, shortDuration } from './format';

describe('duration', () => {
  it('chooses units that people read', () => {
    expect(duration(0)).toBe('0 s');
    expect(duration(0.0000042)).toBe('4 µs');
    expect(duration(0.0042)).toBe('4.2 ms');
    expect(duration(0.2)).toBe('200 ms');
    expect(duration(1.25)).toBe('1.3 s');
    expect(duration(59.4)).toBe('59 s');
    expect(duration(95)).toBe('1 min 35 s');
    expect(duration(3600)).toBe('1 h');
    expect(duration(90000)).toBe('1 d 1 h');
    expect(duration(-30)).toBe('−30 s');
  });
  it('shows a dash for what is not known', () => {
    expect(duration(null)).toBe('–');
    expect(duration(Number.NaN)).toBe('–');
    expect(shortDuration(undefined)).toBe('–');
  });
  it('is short where there is little room', () => {
    expect(shortDuration(75)).toBe('75 s');
    expect(shortDuration(0.2294)).toBe('229 ms');
    expect(shortDuration(0.9997)).toBe('1 s');
    expect(shortDuration(0.0009997)).toBe('1 ms');
    expect(shortDuration(600)).toBe('10 min');
    expect(shortDuration(86400)).toBe('24 h');
    expect(shortDuration(864000)).toBe('10 d');
  });
});

describe('numbers', () => {
  it('groups thousands', () => {
    expect(count(1234567)).toBe('1,234,567');
    expect(count(-1234.5, 1)).toBe('−1,234.5');
    expect(plural(1, 'target')).toBe('1 target');
    expect(plural(5000, 'target')).toBe('5,000 targets');
    expect(plural(4, 'class')).toBe('4 classes');
    expect(plural(2, 'batch')).toBe('2 batches');
  });
  it('keeps three digits', () => {
    expect(compact(15300)).toBe('15.3 k');
    expect(compact(0.123)).toBe('0.12');
    expect(compact(2.5e9)).toBe('2.5 G');
  });
  it('writes sizes', () => {
    expect(bytes(1536)).toBe('1.5 KiB');
    expect(bytes(12)).toBe('12 B');
  });
  it('never rounds up to all', () => {
    expect(percent(0.99999)).toBe('99.9 %');
    expect(percent(1)).toBe('100 %');
    expect(percent(0.5)).toBe('50 %');
  });
  it('knows the units of manifests', () => {
    expect(measure(41.23, '%')).toBe('41 %');
    expect(measure(0.012, 's')).toBe('12 ms');
    expect(measure(12, 'ms')).toBe('12 ms');
    expect(measure(1500, '/s')).toBe('1.5 k/s');
    expect(measure(21.5, '°C')).toBe('21.5 °C');
    expect(measure(21.5, 'celsius')).toBe('21.5 °C');
    expect(measure(1e10, 'bits per second')).toBe('10 Gbit/s');
    expect(measure(500, 'bit/s')).toBe('500 bit/s');
    expect(measure(1536, 'bytes per second')).toBe('1.5 KiB/s');
    expect(measure(1200, 'watts')).toBe('1.2 kW');
    expect(measure(3, 'packets')).toBe('3 packets');
    expect(measure(12, 'packets per second')).toBe('12 packets/s');
    expect(measure(1.5, 'days')).toBe('1 d 12 h');
    expect(measure(null, '%')).toBe('–');
    expect(measure(2048, 'bytes per second')).toBe('2 KiB/s');
    expect(measure(1.5, 'packets per second')).toBe('1.5 packets/s');
    expect(measure(3, 'per second')).toBe('3/s');
    expect(measure(29.5, 'days')).toBe('29 d 12 h');
  });
});

describe('sentence', () => {
  it('begins large, and leaves names alone', () => {
    expect(sentence('the token is not valid')).toBe('The token is not valid');
    expect(sentence('sw-1 does not answer')).toBe('sw-1 does not answer');
    expect(sentence('"x" is no address')).toBe('"x" is no address');
  });
});

it('an axis of bytes has steps that are whole in its units', () => {
  for (const unit of ['bytes', 'B', 'bytes/s', 'bytes per second']) {
    const steps = axisSteps(unit) ?? [];
    expect(steps.slice(0, 10)).toEqual([1, 2, 5, 10, 20, 50, 100, 200, 500, 1024]);
    expect(steps.slice(9).every((step) => /^[125]0*( \w+)$/.test(bytes(step)))).toBe(true);
  }
  for (const unit of ['', 's', '%', 'bits/s', 'requests/s']) expect(axisSteps(unit)).toBeNull();
});
