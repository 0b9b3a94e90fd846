import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../logic/yaml';
import { alertRules, freshTrial, kPasted, kStarter, mistakesOf, outline, stepsOf, stepsTemplate } from './model';
import { parts, placeOf, readReference, sectionFor } from './reference';

describe('a manifest in the page', () => {
  it('tells the alerts it can raise', () => {
    expect(alertRules(kStarter)).toEqual([{ name: 'door_open', kind: 'condition', severity: 'warning', when: 'open == 1', summary: 'The door is open.' }]);
    const text = `conditions:
  - {name: hot, metric: t, trigger: "> 60", clear: "< 50", severities: {critical: "> 70"}}
  - {name: gone, metric: t, absent: 10m}
signals:
  - {type: link_down, when: oper == 'down'}
signal_types:
  link_down: {severity: major, title: A link is down}
  other: {severity: info}
`;
    expect(alertRules(text)).toEqual([
      { name: 'hot', kind: 'condition', severity: 'warning', when: 't > 60, over when < 50; critical > 70', summary: '' },
      { name: 'gone', kind: 'condition', severity: 'warning', when: 't has no value for 10m', summary: '' },
      { name: 'link_down', kind: 'signal', severity: 'major', when: "oper == 'down'", summary: 'A link is down' },
      { name: 'other', kind: 'signal', severity: 'info', when: 'when it is told', summary: '' },
    ]);
    expect(alertRules('a: [')).toBeNull();
  });
  it('puts mistakes of the server at their lines', () => {
    expect(
      mistakesOf([{ pointer: '/metrics/0/type', detail: 'line 15: "gauje" is not known' }, { pointer: '/http', detail: 'is missing' }, { detail: 'too large' }], kStarter),
    ).toEqual([
      { line: 15, text: '/metrics/0/type "gauje" is not known' },
      { line: 10, text: '/http is missing' },
      { line: null, text: 'too large' },
    ]);
  });
  it('knows what a trial asks for', () => {
    expect(outline('name: a\nprotocol: snmp\nparameters:\n  path: {default: /, description: Where.}\n  id: {required: true, example: 7}\n')).toEqual({
      name: 'a', protocol: 'snmp',
      parameters: [{ name: 'path', required: false, initial: '/', help: 'Where.' }, { name: 'id', required: true, initial: '7', help: '' }],
    });
    expect(outline('- 1')).toEqual({ name: '', protocol: '', parameters: [] });
  });
  it('makes steps of what was pasted', () => {
    expect(stepsOf('http', [{ text: '{}', status: '503' }], 60)).toEqual([{ at: '0s', http: { status: 503, body: '{}' } }]);
    expect(stepsOf('exec', [{ text: 'OK', status: '1' }, { text: 'OK', status: '' }], 30)).toEqual([
      { at: '0s', command: { exit: 1, output: 'OK' } },
      { at: '30s', command: { exit: 0, output: 'OK' } },
    ]);
    for (const protocol of ['http', 'snmp', 'ssh', 'exec', 'tcp', 'tls', 'icmp', 'dns', 'trap', 'webhook', 'push']) expect(parseYaml(stepsTemplate(protocol)).problem, protocol).toBeNull();
    expect(Object.keys(kPasted)).toContain('webhook');
  });
});

describe('a trial with a device', () => {
  it('shows the page of the newest attempt, and the reason where there is none', () => {
    const page = { asks: ['http://192.0.2.1/status'], steps: [], replies: [{ text: '{}', status: 200 }] };
    const runs = [{ attempt: 2, output: JSON.stringify(page) }, { attempt: 1, output: '{}' }];
    expect(freshTrial({ state: 'completed' }, runs)).toEqual(page);
    const why = (job: Parameters<typeof freshTrial>[0], error?: string) => freshTrial(job, error === undefined ? [] : [{ attempt: 1, output: '', error }]).steps[0];
    expect(why({ state: 'failed' }, 'there is no device "attic"')).toMatchObject({ failed: true, problems: ['there is no device "attic"'] });
    expect(why({ state: 'failed', failure: 'too late' })?.problems).toEqual(['too late']);
    expect(why({ state: 'cancelled' })?.problems).toEqual(['It was cancelled.']);
  });
});

describe('the reference beside the editor', () => {
  const sections = readReference(readFileSync('../docs/manifest-reference.md', 'utf8'));
  it('has a section for every part of a manifest', () => {
    for (const key of ['http', 'snmp', 'ssh', 'exec', 'tcp', 'tls', 'icmp', 'dns', 'metrics', 'conditions', 'change', 'signals', 'signal_types', 'trap', 'webhook', 'push', 'parameters']) {
      expect(sectionFor(sections, key)?.title, key).not.toBe('Head');
    }
    expect(sectionFor(sections, 'name')?.title).toBe('Head');
    expect(sectionFor(sections, 'http')?.rows.find((row) => row.keys.includes('endpoints'))?.meaning).toContain('redirects');
    expect(sectionFor(sections, 'metrics')?.rows.some((row) => row.keys.includes('type'))).toBe(true);
  });
  it('knows where the cursor is', () => {
    expect(placeOf(kStarter, 2)).toEqual({ section: 'name', key: 'name' });
    expect(placeOf(kStarter, 12)).toEqual({ section: 'http', key: 'name' });
    expect(placeOf(kStarter, 15)).toEqual({ section: 'metrics', key: 'name' });
    expect(placeOf('', 1)).toEqual({ section: '', key: '' });
  });
  it('splits texts at code', () => {
    expect(parts('a `b` c')).toEqual([{ text: 'a ', code: false }, { text: 'b', code: true }, { text: ' c', code: false }]);
  });
});
