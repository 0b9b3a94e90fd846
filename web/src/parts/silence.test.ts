import { describe, expect, it } from 'vitest';
import { matcher, silenceBody, silenceName } from './silence';

describe('silences', () => {
  it('quotes what a device may be called', () => {
    expect(matcher('device', 'core-1')).toBe('device="core-1"');
    expect(matcher('device', 'a"b\\c')).toBe('device="a\\"b\\\\c"');
    expect(matcher('device', 'a.*', '=~')).toBe('device=~"a.*"');
  });
  it('makes names that files and URLs take', () => {
    const now = Date.parse('2026-01-31T14:05:09Z');
    expect(silenceName('snmp::Core 1/ä', now)).toBe('snmp-core-1-20260131-140509');
    expect(silenceName('///', now)).toBe('silence-20260131-140509');
  });
  it('ends after its length', () => {
    const body = silenceBody({ matchers: ['a="b"'], length: 7200, owner: 'eve', reason: 'work' }, 'x-1', Date.parse('2026-01-31T14:00:00Z'));
    expect(body).toEqual({ name: 'x-1', match: ['a="b"'], until: '2026-01-31T16:00:00.000Z', owner: 'eve', reason: 'work' });
  });
});
