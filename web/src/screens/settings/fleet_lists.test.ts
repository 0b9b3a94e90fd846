import { describe, expect, it } from 'vitest';
import { formOf, kGroups, kSources, specOf, wordsOf } from './fleet_lists';

describe('groups and sources', () => {
  it('go through a form unchanged, also with what has no field', () => {
    const group = { match: { role: ['switch', 'router'], site: 'berlin' }, members: ['a', 'b'], addons: ['snmp-system'], tier: 'high', interval: { min: '5s' }, alerts: { x: false } };
    expect(formOf(kGroups.parts, group).values['match']).toBe('role=switch, router\nsite=berlin');
    expect(specOf(kGroups.parts, formOf(kGroups.parts, group))).toEqual(group);
    const source = { file_sd: ['/a/*.json'], refresh: '1m', labels: { managed: 'yes' } };
    expect(specOf(kSources.parts, formOf(kSources.parts, source))).toEqual(source);
  });
  it('keep in the rest what a field could only spoil', () => {
    const group = { match: { site: 'a,b' }, addons: [{ name: 'snmp-system', interval: '30s' }] };
    const form = formOf(kGroups.parts, group);
    expect(form.values).toEqual({});
    expect(JSON.parse(form.rest)).toEqual(group);
    expect(specOf(kGroups.parts, form)).toEqual(group);
    expect(() => specOf(kGroups.parts, { ...form, values: { addons: 'icmp-ping' } })).toThrow('"addons" stands');
  });
  it('say what is wrong', () => {
    expect(() => specOf(kGroups.parts, { values: { match: 'switch' }, rest: '' })).toThrow('"switch" is no label');
    expect(() => specOf(kGroups.parts, { values: {}, rest: '[1]' })).toThrow('The other settings cannot be read');
  });
  it('are told in a line', () => {
    expect(wordsOf(kGroups.parts, { match: { role: 'switch', site: 'b' }, addons: ['x', 'y'], interval: { min: '1s' } })).toBe('role=switch and site=b; addons x, y; interval');
  });
});
