import { describe, expect, it } from 'vitest';
import { actsFor, byDevice, chosenOperations, jobOfKey, plainVerdict, verdictParts } from './model';
import type { Operation } from './model';

const id = '01a1edd4-8bc5-7003-8fce-6c02149a0e8d';

describe('jobs', () => {
  it('may be steered as their state allows', () => {
    expect(actsFor({ state: 'running', held: false })).toEqual({ cancel: true, retry: false, hold: false, release: false });
    expect(actsFor({ state: 'pending', held: true })).toEqual({ cancel: true, retry: false, hold: false, release: true });
    expect(actsFor({ state: 'failed', held: false })).toEqual({ cancel: false, retry: true, hold: false, release: false });
    expect(actsFor({ state: 'completed', held: false })).toEqual({ cancel: false, retry: false, hold: false, release: false });
  });
  it('name the jobs they wait for', () => {
    expect(jobOfKey(`job-http::${id}`)).toBe(id);
    expect(jobOfKey('http-status::web')).toBeNull();
    expect(verdictParts(`needs: waits for "job-http::${id}" first`)).toEqual([{ text: 'needs: waits for ' }, { job: id }, { text: ' first' }]);
    expect(verdictParts('admission: resource "cpu" has 0 of 4 free')).toEqual([{ text: 'admission: resource "cpu" has 0 of 4 free' }]);
    expect(plainVerdict({ state: 'pending', held: true, verdict: 'enabled: disabled' })).toContain('releases');
    expect(plainVerdict({ state: 'running', held: false })).toBe('');
  });
});

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
