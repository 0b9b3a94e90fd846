import { afterEach, describe, expect, it } from 'vitest';
import { bothTimes, timeTitle } from './clock';

const kAt = Date.UTC(2026, 0, 31, 22, 30, 9);
const kZone = process.env['TZ'];

afterEach(() => {
  if (kZone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = kZone;
});

describe('a time, local and UTC', () => {
  it('is written once where both are the same', () => {
    process.env['TZ'] = 'UTC';
    expect(bothTimes(kAt, kAt)).toBe('22:30:09 UTC');
    expect(bothTimes(kAt, 0)).toBe('2026-01-31 22:30:09 UTC');
  });
  it('has the day of UTC only where it is another one', () => {
    process.env['TZ'] = 'America/New_York';
    expect(bothTimes(kAt, kAt)).toBe('17:30:09 (22:30:09 UTC)');
    expect(bothTimes(kAt, 0)).toBe('2026-01-31 17:30:09 (22:30:09 UTC)');
    process.env['TZ'] = 'Europe/Berlin';
    expect(bothTimes(kAt, kAt)).toBe('23:30:09 (22:30:09 UTC)');
    process.env['TZ'] = 'Asia/Tokyo';
    expect(bothTimes(kAt, kAt)).toBe('07:30:09 (2026-01-31 22:30:09 UTC)');
  });
  it('is whole in a title', () => {
    process.env['TZ'] = 'Asia/Tokyo';
    expect(timeTitle(kAt)).toBe('2026-02-01 07:30:09 local, 2026-01-31 22:30:09 UTC');
  });
});
