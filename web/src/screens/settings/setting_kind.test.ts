import { describe, expect, it } from 'vitest';
import { changeWords, compareTopics, formatScope, kindOf, lockOf, nameOf, parseScope, sameValue, shownValue, topicOf, valueText, withEdit } from './setting_kind';
import type { Setting } from './shapes';

const setting = (more: Partial<Setting> = {}): Setting => ({
  value: '10s', default: '10s', origin: 'default', locked: false, environment: 'POLLUX_X', applies: 'live', type: 'a duration from 1 s to 1 d', help: '', ...more,
});

describe('kinds of settings', () => {
  it('are told by the words of their type', () => {
    expect(kindOf('true or false', true)).toEqual({ kind: 'boolean' });
    expect(kindOf('a scope', 'all')).toEqual({ kind: 'scope' });
    expect(kindOf('a duration from 100 ms to 31 d', '5s')).toEqual({ kind: 'duration', min: '100 ms', max: '31 d' });
    expect(kindOf('a whole number from 0 to 65535', 1)).toEqual({ kind: 'integer', min: 0, max: 65535 });
    expect(kindOf('a number from 0.001 to 10000000', 1)).toEqual({ kind: 'number', min: 0.001, max: 10000000 });
    expect(kindOf('fixed, classic, aimd or optimal', 'fixed')).toEqual({ kind: 'choice', choices: ['fixed', 'classic', 'aimd', 'optimal'] });
    expect(kindOf('off or loopback', 'off')).toEqual({ kind: 'choice', choices: ['off', 'loopback'] });
    expect(kindOf('a list of address ranges', [])).toEqual({ kind: 'list', of: 'address ranges' });
    expect(kindOf('a list of group=role', '')).toEqual({ kind: 'text' });
    expect(kindOf('an http or https address', '')).toEqual({ kind: 'text' });
    expect(kindOf('a host name or address', '')).toEqual({ kind: 'text' });
  });
  it('have names and values for people', () => {
    expect(nameOf('pve_polling_interval')).toBe('PVE polling interval');
    expect(nameOf('snmp_timeout')).toBe('SNMP timeout');
    expect(valueText(true)).toBe('on');
    expect(valueText([])).toBe('none');
    expect(valueText(['a', 'b'])).toBe('a, b');
    expect(valueText('')).toBe('not set');
    expect(valueText(undefined)).toBe('default');
    expect(valueText(0)).toBe('0');
  });
  it('belong to a topic', () => {
    expect(topicOf('global_rate')).toBe('Polling');
    expect(topicOf('snmp_resends')).toBe('Timeouts');
    expect(topicOf('alertmanager_urls')).toBe('Alerts');
    expect(topicOf('status_page_title')).toBe('Status page');
    expect(topicOf('seed')).toBe('Other');
    expect(['Other', 'Alerts', 'Polling'].sort(compareTopics)).toEqual(['Polling', 'Alerts', 'Other']);
  });
  it('say why they are locked', () => {
    expect(lockOf(setting())).toBeUndefined();
    expect(lockOf(setting({ locked: true, origin: 'environment' }))).toContain('unset it');
    expect(lockOf(setting({ locked: true }))).toBe('Only the environment can set it (POLLUX_X).');
  });
});

describe('edits', () => {
  it('are kept only while they change something', () => {
    const one = withEdit({}, 'a', '20s', setting());
    expect(one).toEqual({ a: '20s' });
    expect(withEdit(one, 'a', '10s', setting())).toEqual({});
    expect(withEdit({}, 'a', ['x'], setting({ value: ['x'] }))).toEqual({});
  });
  it('go back to the default only from a stored value', () => {
    expect(withEdit({}, 'a', null, setting())).toEqual({});
    const stored = setting({ value: '20s', origin: 'settings' });
    expect(withEdit({}, 'a', null, stored)).toEqual({ a: null });
    expect(shownValue({ a: null }, 'a', stored)).toBe('10s');
    expect(shownValue({ a: false }, 'a', stored)).toBe(false);
    expect(shownValue({}, 'a', stored)).toBe('20s');
  });
  it('compare lists by what is in them', () => {
    expect(sameValue(['a'], ['a'])).toBe(true);
    expect(sameValue('1', 1)).toBe(false);
  });
});

describe('scopes', () => {
  it('are read and written the same', () => {
    for (const text of ['all', 'classes:snmp-system,http-json', 'groups:berlin', 'targets:a::b,c::d', 'percent:25']) expect(formatScope(parseScope(text))).toBe(text);
    expect(parseScope('targets:a::b')).toEqual({ kind: 'targets', names: ['a::b'], percent: 100 });
    expect(parseScope('percent:12.5').percent).toBe(12.5);
    expect(formatScope({ kind: 'percent', names: [], percent: Number.NaN })).toBe('percent:');
  });
});

describe('changeWords', () => {
  it('tells how much', () => {
    expect(changeWords(10, 11)).toBe('+10 %');
    expect(changeWords(10, 6)).toBe('−40 %');
    expect(changeWords(10, 10.01)).toBe('same');
    expect(changeWords(0, 5)).toBe('');
    expect(changeWords(0, 0)).toBe('same');
  });
});
