import { describe, expect, it } from 'vitest';
import { dayWords, groupWords, headline, kDays, lastDays, lasted, levelOf, openSince, snippets, utcMoment } from './model';
import type { Day, Group } from './model';

const day = (uptime: number | null, down = 0): Day => ({ day: '2026-01-31', uptime, down_seconds: down });

describe('the status page', () => {
  it('says how it is in one line', () => {
    expect(headline('up', 0, [])).toBe('Everything is up');
    expect(headline('up', 1, [])).toContain('incident');
    expect(headline('down', 1, [])).toBe('Everything is down');
    expect(headline('degraded', 0, [{ state: 'up' }, { state: 'degraded' }])).toBe('Something is degraded');
    expect(headline('degraded', 0, [{ state: 'up' }, { state: 'down' }])).toBe('Something is down');
    expect(headline('unknown', 0, [])).toContain('known');
  });
  it('shows 90 days, also when fewer are known', () => {
    expect(lastDays([day(1)])).toHaveLength(kDays);
    expect(lastDays([day(1)]).at(-1)).toEqual(day(1));
    expect(lastDays([day(1)])[0]).toBeNull();
    expect(lastDays(Array.from({ length: 120 }, () => day(1)))).toHaveLength(kDays);
  });
  it('tells a day by shape and words', () => {
    expect([levelOf(null), levelOf(day(null)), levelOf(day(1)), levelOf(day(0.999, 60)), levelOf(day(0.5, 43200))]).toEqual(['none', 'none', 'full', 'some', 'bad']);
    expect(dayWords(day(1), 0)).toBe('31 January 2026: up all the time');
    expect(dayWords(day(0.9993, 60), 0)).toBe('31 January 2026: 99.93 % up, down for 1 min');
    expect(dayWords(day(null), 0)).toBe('31 January 2026: no data');
    expect([dayWords(null, 12), dayWords(null, 1), dayWords(null, 0)]).toEqual(['12 days ago: no data', 'yesterday: no data', 'today: no data']);
  });
  it('sums a group up', () => {
    const group: Group = { name: 'b', state: 'up', uptime_90d: 0.99995, days: [day(1), day(0.9, 8640)], members: 2 };
    expect(groupWords(group)).toBe('99.99 % up, of 2 known days, 1 day with an outage');
    expect(groupWords({ ...group, days: [day(null), day(0.99, 60)] })).toBe('99.99 % up, of 1 known day, 1 day with an outage');
    expect(groupWords({ ...group, days: Array.from({ length: 90 }, () => day(1)) })).toBe('99.99 % up in 90 days, no day with an outage');
    expect(groupWords({ ...group, uptime_90d: null })).toBe('no data yet');
  });
  it('knows how long an incident lasted', () => {
    const incident = { title: '', state: 'resolved' as const, started: '2026-01-01T00:00:00Z', ended: '2026-01-01T01:30:00Z', groups: [], notes: [] };
    expect(lasted(incident, 0)).toBe('1 h 30 min');
    const { ended: _, ...open } = incident;
    expect(lasted(open, Date.parse('2026-01-01T00:00:30Z'))).toBe('30 s');
    expect(openSince(open.started, Date.parse('2026-01-01T02:00:00Z'))).toMatch(/^since .*, 2 h so far$/);
  });
  it('tells a time in UTC too, for those who are not where the reader is', () => {
    expect(utcMoment('2026-01-31T23:05:09+02:00')).toBe('31 January 2026, 21:05 UTC');
    expect(utcMoment('soon')).toBe('soon');
  });
  it('gives badges below any path, with names made harmless', () => {
    const page = 'http:' + '//h/pollux/status#x';
    expect(snippets(page, 'all').url).toBe('http:' + '//h/pollux/api/status-page/badge/all');
    const odd = snippets(page, '"><script>]a');
    expect(odd.html).not.toContain('<script>');
    expect(odd.markdown.split('](')[0]).toBe('[![">' + '<script>a');
    expect(odd.url).not.toContain('<');
  });
});
