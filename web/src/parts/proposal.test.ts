import { describe, expect, it } from 'vitest';
import { byDevice, chosenOperations } from './proposal';
import type { Operation } from './proposal';

describe('a proposal', () => {
  const operations: Operation[] = [
    { op: 'create', addon: 'icmp-ping', device: 'sw-9', device_spec: { address: '192.0.2.9', labels: { found: 'x' } } },
    { op: 'create', addon: 'snmp-system', device: 'sw-9' },
    { op: 'create', addon: 'icmp-ping', device: 'sw-1', device_spec: { address: '192.0.2.1' } },
  ];
  const devices = byDevice(operations, { device: (name) => name === 'sw-1', target: () => false });
  it('is shown by device, compared with what is there', () => {
    expect(devices.map((device) => [device.name, device.address, device.known, device.operations.length])).toEqual([
      ['sw-9', '192.0.2.9', false, 2],
      ['sw-1', '192.0.2.1', true, 1],
    ]);
  });
  it('keeps the address with the first chosen operation of a new device', () => {
    expect(chosenOperations(devices, new Set(['snmp-system::sw-9', 'icmp-ping::sw-1']))).toEqual([
      { op: 'create', addon: 'snmp-system', device: 'sw-9', device_spec: { address: '192.0.2.9', labels: { found: 'x' } } },
      { op: 'create', addon: 'icmp-ping', device: 'sw-1' },
    ]);
    expect(chosenOperations(devices, new Set())).toEqual([]);
  });
});
