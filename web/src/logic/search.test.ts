import { describe, expect, it } from 'vitest';
import { searchFleet } from './search';

const target = (addon: string, device: string, address = '192.0.2.1') => ({ key: `${addon}::${device}`, device, address });
const kFleet = [
  target('icmp-ping', 'old-core'), target('snmp-system', 'core-10', '192.0.2.10'), target('snmp-system', 'core-1'), target('http-json', 'core-1'),
  target('tcp-port', 'mail', '192.0.2.77'),
];
const names = (text: string, most = 10) => {
  const { devices, targets } = searchFleet(kFleet, text, most);
  return { devices: devices.map((one) => one.name), targets: targets.map((one) => one.key) };
};

describe('the search of the fleet', () => {
  it('offers devices once, with how many targets they have', () => {
    expect(searchFleet(kFleet, 'core-1', 10).devices).toEqual([{ name: 'core-1', targets: 2 }, { name: 'core-10', targets: 1 }]);
  });
  it('offers those first whose name begins with the text', () => {
    expect(names('CORE')).toEqual({
      devices: ['core-10', 'core-1', 'old-core'],
      targets: ['snmp-system::core-10', 'snmp-system::core-1', 'http-json::core-1', 'icmp-ping::old-core'],
    });
  });
  it('finds by address, and targets by their addon', () => {
    expect(names('2.77')).toEqual({ devices: ['mail'], targets: ['tcp-port::mail'] });
    expect(names('http-')).toEqual({ devices: [], targets: ['http-json::core-1'] });
  });
  it('finds nothing for nothing, and no more than is wanted', () => {
    expect(names(' ')).toEqual({ devices: [], targets: [] });
    expect(names('core', 2).targets).toEqual(['snmp-system::core-10', 'snmp-system::core-1']);
    const many = Array.from({ length: 50 }, (_, place) => target('a', `sw-${place}`));
    expect(searchFleet(many, 'sw', 10).devices).toHaveLength(4);
  });
});
