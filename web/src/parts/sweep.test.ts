import { describe, expect, it } from 'vitest';
import { addressCount, sweepBody } from './sweep';

describe('a sweep', () => {
  it('knows how many addresses it asks', () => {
    expect(addressCount('192.0.2.0/24')).toBe(254);
    expect(addressCount('192.0.2.1/32')).toBe(1);
    expect(addressCount('192.0.2.0/31')).toBe(2);
    expect(addressCount('10.0.0.0/8')).toBe(16777214);
    expect(addressCount('fd00::/120')).toBe(256);
    for (const wrong of ['', '192.0.2.0', '192.0.2/24', '192.0.2.0/33', 'host/24']) expect(addressCount(wrong)).toBeNull();
  });
  it('sends only what was said', () => {
    const all = ['icmp', 'snmp', 'http'];
    const sweep = { network: ' 192.0.2.0/24 ', methods: new Set(all), credentials: '', rate: null, ports: {} };
    expect(sweepBody(sweep, all)).toEqual({ network: '192.0.2.0/24' });
    expect(sweepBody({ ...sweep, methods: new Set(['snmp', 'icmp']), credentials: 'a, b', rate: 10, ports: { snmp: 1161, http: 8080 } }, all)).toEqual({
      network: '192.0.2.0/24', methods: ['icmp', 'snmp'], credentials: ['a', 'b'], rate: 10, snmp_port: 1161,
    });
  });
});
