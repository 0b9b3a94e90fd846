import { describe, expect, it } from 'vitest';
import type { Attention } from '../../api/model';
import { grouped, someOf } from './attention';

const incident = (title: string, device: string, key: string): Attention => ({ kind: 'incident', title, why: `device ${device}`, severity: 'critical', key });

describe('what needs attention', () => {
  it('tells what is alike once, with its number', () => {
    const items = [
      incident('The server answers with an error: 503', 'web-1', '1'),
      incident('snmp::sw-1 does not answer', 'sw-1', '2'),
      incident('The server answers with an error: 503', 'web-2', '3'),
      incident('The server answers with an error: 503', 'web-3', '4'),
      incident('snmp::sw-2 does not answer', 'sw-2', '5'),
      incident('snmp::sw-3 does not answer', 'sw-3', '6'),
    ];
    expect(grouped(items).map((one) => [one.title, one.size, one.devices])).toEqual([
      ['The server answers with an error: 503', 3, ['web-1', 'web-2', 'web-3']],
      ['snmp::… does not answer', 3, ['sw-1', 'sw-2', 'sw-3']],
    ]);
  });
  it('leaves two alike, other severities and other kinds as they are', () => {
    const items: Attention[] = [
      incident('down', 'a', '1'),
      incident('down', 'b', '2'),
      { ...incident('down', 'c', '3'), severity: 'major' },
      { kind: 'breaker', title: 'down', why: 'device d', severity: 'critical', key: 'x::d' },
    ];
    expect(grouped(items).map((one) => one.size)).toEqual([1, 1, 1, 1]);
    expect(grouped(items).map((one) => one.first.key)).toEqual(['1', '2', '3', 'x::d']);
  });
  it('names some', () => {
    expect(someOf(['a', 'b', 'c', 'd'])).toBe('a, b, c, d');
    expect(someOf(['a', 'b', 'c', 'd', 'e'])).toBe('a, b, c and 2 more');
  });
});
