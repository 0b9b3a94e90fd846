import { describe, expect, it } from 'vitest';
import * as form from './spec_form';

describe('forms of specs', () => {
  it('touch only what they show', () => {
    const spec = { tier: 'high', snmp: { version: 3 } };
    expect(form.withText(spec, 'tier', 'low')).toEqual({ tier: 'low', snmp: { version: 3 } });
    expect(form.withText(spec, 'tier', ' ')).toEqual({ snmp: { version: 3 } });
    expect(form.withNumber(spec, 'port', 161)).toEqual({ ...spec, port: 161 });
    expect(form.withNumber({ port: 1 }, 'port', Number.NaN)).toEqual({});
    expect(form.withBool({}, 'adaptive', 'false')).toEqual({ adaptive: false });
    expect(form.textOf({ adaptive: false }, 'adaptive')).toBe('false');
  });
  it('write an interval as short as it is', () => {
    expect(form.intervalOf({ interval: '30s' })).toEqual({ min: '', base: '30s', max: '' });
    expect(form.withInterval({}, { base: '30s' })).toEqual({ interval: '30s' });
    expect(form.withInterval({ interval: '30s' }, { max: '2m' })).toEqual({ interval: { base: '30s', max: '2m' } });
    expect(form.withInterval({ interval: { base: '30s', max: '2m' } }, { max: '' })).toEqual({ interval: '30s' });
    expect(form.withInterval({ interval: '30s' }, { base: '' })).toEqual({});
  });
  it('keep entries of addons that are more than a name', () => {
    const spec = { addons: ['icmp-ping', { name: 'tcp-port', port: 25 }] };
    expect(form.namesOf(spec, 'addons')).toBe('icmp-ping, tcp-port');
    expect(form.withNames(spec, 'addons', 'tcp-port, snmp-system')).toEqual({ addons: [{ name: 'tcp-port', port: 25 }, 'snmp-system'] });
    expect(form.withNames(spec, 'addons', '')).toEqual({});
  });
  it('make parents that are edited those of a person', () => {
    expect(form.withParents({ parents: ['a'], labels: { parents_discovered_by: 'job', site: 'x' } }, 'a, b')).toEqual({ parents: ['a', 'b'], labels: { site: 'x' } });
    expect(form.withParents({ parents: ['a'], labels: { parents_discovered_by: 'job' }, tier: 'high' }, 'a, b')).toEqual({ parents: ['a', 'b'], tier: 'high' });
  });
  it('know parents with alternatives', () => {
    const spec = { parents: ['edge', ['core-a', 'core-b']] };
    expect(form.namesOf(spec, 'parents')).toBe('edge, core-a | core-b');
    expect(form.withNames({}, 'parents', 'edge, core-a | core-b')).toEqual(spec);
  });
  it('read labels by line', () => {
    expect(form.linesOf({ labels: { site: 'berlin', role: 'core' } }, 'labels')).toBe('site=berlin\nrole=core');
    expect(form.withLines({}, 'labels', 'site = berlin\nnonsense\nurl=a=b')).toEqual({ labels: { site: 'berlin', url: 'a=b' } });
  });
  it('set parameters of the addon', () => {
    expect(form.withParam({ params: { a: '1' } }, 'b', '2')).toEqual({ params: { a: '1', b: '2' } });
    expect(form.withParam({ params: { a: '1' } }, 'a', '')).toEqual({});
    expect(form.paramOf({ params: { a: '1' } }, 'a')).toBe('1');
  });
  it('read a text, or say what is wrong with it', () => {
    expect(form.parseSpec('').spec).toEqual({});
    expect(form.parseSpec('{"tier":"high"}').spec).toEqual({ tier: 'high' });
    expect(form.parseSpec('[1]').error).toContain('object');
    expect(form.parseSpec('{').error).toBeTruthy();
  });
  it('edit the entry of an addon inside a device', () => {
    const device = { address: 'x', addons: ['a', { name: 'b', port: 1 }] };
    expect(form.addonEntry(device, 'b')).toEqual({ port: 1 });
    expect(form.addonEntry(device, 'a')).toEqual({});
    expect(form.withAddonEntry(device, 'a', { tier: 'low' })['addons']).toEqual([{ name: 'a', tier: 'low' }, { name: 'b', port: 1 }]);
    expect(form.withAddonEntry(device, 'b', {})['addons']).toEqual(['a', 'b']);
    expect(form.withAddonEntry({}, 'c', {})['addons']).toEqual(['c']);
  });
});
