import { describe, expect, it } from 'vitest';
import { auditQuery, kNoFilter, laidOut } from './audit_filter';
import { channelForm, channelSpec, kNewChannel, labelsOf, matchers, routeForm, routeSpec, silenceState } from './object_spec';
import { agentWords } from './agent';

describe('channels', () => {
  it('keep what they were through a form', () => {
    for (const spec of [
      { name: 'mail', kind: 'email' as const, to: ['a@example.org', 'b@example.org'] },
      { name: 'hook', kind: 'webhook' as const, url: 'https://example.org/x', template: 'alertmanager', per_minute: 0, send_resolved: false },
      { url: 'ntfys://{secret}@ntfy.example.org/ops', credentials: 'ntfy-token', params: { priority: 'high' } },
      { kind: 'exec' as const, argv: ['/usr/local/bin/page', 'a, b'] },
    ]) expect(channelSpec(channelForm(spec))).toEqual(spec);
  });
  it('are told by their keys where no kind is said', () => {
    expect(channelForm({ to: ['a@b'] }).kind).toBe('email');
    expect(channelForm({ argv: ['/x'] }).kind).toBe('exec');
    expect(channelForm({ url: 'slack://x' }).kind).toBe('service');
    expect(channelForm({ kind: 'webhook', url: 'http://x' }).kind).toBe('webhook');
  });
  it('say what is wrong with their parameters', () => {
    expect(() => channelSpec({ ...kNewChannel, params: '{' })).toThrow('The parameters cannot be read');
    expect(() => channelSpec({ ...kNewChannel, params: '[1]' })).toThrow('an object in braces');
  });
});

describe('routes', () => {
  it('keep what a form does not know', () => {
    const spec = {
      match: ['site="berlin"', 'a=~"x,y"'], at_least: 'major', receivers: ['ops'], group_wait: '5s', group_interval: '5m', repeat: '4h',
      escalation: [{ after: '15m', receivers: ['boss'] }], quiet: [{ cron: '0 22 * * *', duration: '9h' }],
    };
    expect(routeSpec(routeForm(spec))).toEqual(spec);
    expect(routeForm({ match: { site: 'berlin' } }).match).toBe('site="berlin"');
  });
  it('read labels', () => {
    expect(labelsOf('site=berlin, role="core"\nbroken')).toEqual({ labels: { site: 'berlin', role: 'core' }, wrong: ['broken'] });
    expect(matchers(undefined)).toEqual([]);
  });
});

describe('silences', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  it('are active, later, over or recurring', () => {
    expect(silenceState({ until: '2026-01-03T00:00:00Z' }, now)).toBe('active');
    expect(silenceState({ until: '2026-01-01T00:00:00Z' }, now)).toBe('over');
    expect(silenceState({ from: '2026-01-03T00:00:00Z', until: '2026-01-04T00:00:00Z' }, now)).toBe('later');
    expect(silenceState({ cron: '0 2 * * *', duration: '2h' }, now)).toBe('recurring');
  });
});

describe('audit', () => {
  it('leaves out what is not asked for', () => {
    expect(auditQuery(kNoFilter)).toEqual({});
    expect(auditQuery({ ...kNoFilter, principal: ' user:ada ', from: '2026-01-02T03:04' })).toEqual({ principal: 'user:ada', from: new Date('2026-01-02T03:04').toISOString() });
  });
  it('lays JSON out and leaves the rest', () => {
    expect(laidOut('{"a":1}')).toBe('{\n  "a": 1\n}');
    expect(laidOut('open')).toBe('open');
    expect(laidOut('{cut …')).toBe('{cut …');
  });
});

describe('user agents', () => {
  it('are told in a few words', () => {
    expect(agentWords('Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36')).toBe('Chrome 142 on Linux');
    expect(agentWords('Mozilla/5.0 (Windows NT 10.0; rv:130.0) Gecko/20100101 Firefox/130.0')).toBe('Firefox 130 on Windows');
    expect(agentWords('Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0')).toBe('Edge 140 on Windows');
    expect(agentWords('curl/7.88.1')).toBe('curl 7');
    expect(agentWords('')).toBe('unknown client');
  });
});
