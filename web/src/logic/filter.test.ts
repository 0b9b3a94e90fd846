import { describe, expect, it } from 'vitest';
import { compileFilter, parseFilter, parseTerm, quantity, suggest, termOf, toggleTerm, tokens } from './filter';
import type { FilterSchema } from './filter';

interface Row {
  key: string;
  state: string;
  addon: string;
  groups: string[];
  labels: Record<string, string>;
  lag: number | null;
}

const rows: Row[] = [
  { key: 'snmp-system::sw-1', state: 'down', addon: 'snmp-system', groups: ['berlin', 'core'], labels: { site: 'berlin' }, lag: 0.2 },
  { key: 'snmp-if::sw-2', state: 'up', addon: 'snmp-if', groups: ['lab'], labels: { site: 'paris', role: 'edge switch' }, lag: 2 },
  { key: 'http-json::web-1', state: 'stale', addon: 'http-json', groups: [], labels: {}, lag: null },
];

const schema: FilterSchema<Row> = {
  fields: [
    { name: 'state', help: 'state', kind: 'word', read: (row) => row.state, values: () => ['up', 'down', 'stale'] },
    { name: 'addon', help: 'addon', kind: 'word', read: (row) => row.addon, values: () => ['snmp-system', 'snmp-if', 'http-json'] },
    { name: 'device', help: 'device', kind: 'text', read: (row) => row.key.split('::')[1] },
    { name: 'group', help: 'group', kind: 'word', read: (row) => row.groups },
    { name: 'lag', help: 'lag', kind: 'number', read: (row) => row.lag },
  ],
  text: (row) => row.key,
  label: (row, name) => row.labels[name],
  labels: () => ['site', 'role'],
  labelValues: (name) => (name === 'role' ? ['edge switch'] : ['berlin', 'paris']),
};

const known = schema.fields.map((field) => field.name);
const found = (source: string) =>
  rows.filter(compileFilter(parseFilter(source, known), schema)).map((row) => row.key.split('::')[1]);

describe('the filter language', () => {
  it('takes everything without terms', () => expect(found('  ')).toHaveLength(3));
  it('compares words whole and joins terms by AND', () => {
    expect(found('state:down')).toEqual(['sw-1']);
    expect(found('state:dow')).toEqual([]);
    expect(found('state:down addon:http-json')).toEqual([]);
  });
  it('takes one of several', () => expect(found('state:down,stale')).toEqual(['sw-1', 'web-1']));
  it('knows the star', () => {
    expect(found('addon:snmp*')).toEqual(['sw-1', 'sw-2']);
    expect(found('sw*2')).toEqual(['sw-2']);
  });
  it('negates', () => {
    expect(found('-group:lab')).toEqual(['sw-1', 'web-1']);
    expect(found('-web')).toEqual(['sw-1', 'sw-2']);
    expect(found('-label.site=berlin')).toEqual(['sw-2', 'web-1']);
  });
  it('looks at labels, also with spaces', () => {
    expect(found('label.site=berlin')).toEqual(['sw-1']);
    expect(found('label.role="edge switch"')).toEqual(['sw-2']);
    expect(found('label.site:*')).toEqual(['sw-1', 'sw-2']);
  });
  it('takes a part of a text', () => {
    expect(found('device:sw')).toEqual(['sw-1', 'sw-2']);
    expect(found('device=sw')).toEqual([]);
  });
  it('compares numbers and durations; unknown is neither', () => {
    expect(found('lag>1s')).toEqual(['sw-2']);
    expect(found('lag<=200ms')).toEqual(['sw-1']);
    expect(found('-lag>1s')).toEqual(['sw-1', 'web-1']);
  });
  it('ignores case', () => expect(found('STATE:Down SW')).toEqual(['sw-1']));
  it('holds a term that is still being typed for nothing', () => expect(found('state:')).toHaveLength(3));
  it('says what it does not know, and goes on', () => {
    const filter = parseFilter('colour:red state:up lag>soon', known);
    expect(filter.terms).toHaveLength(1);
    expect(filter.problems[0]).toContain('there is no field “colour”');
    expect(filter.problems[1]).toContain('needs a number');
  });
  it('keeps keys with two colons as text of a field', () => {
    expect(parseTerm('key:pve::node')).toEqual({ field: 'key', operator: ':', values: ['pve::node'], negated: false });
  });
  it('does not mind open quotes and lonely dashes', () => {
    expect(tokens('a "b c').map((token) => token.text)).toEqual(['a', '"b c']);
    expect(found('-')).toEqual(['sw-1', 'sw-2', 'web-1']);
    expect(parseTerm('""')).toBeNull();
  });
  it('treats signs of expressions as plain text', () => expect(found('sw(1')).toEqual([]));
});

describe('quantity', () => {
  it('reads durations', () => {
    expect(quantity('90')).toBe(90);
    expect(quantity('5m')).toBe(300);
    expect(quantity('250ms')).toBe(0.25);
    expect(quantity('soon')).toBeNull();
    expect(quantity('5 parsec')).toBeNull();
  });
});

describe('the type-ahead', () => {
  it('proposes fields', () => {
    expect(suggest('sta', 3, schema).map((one) => one.text)).toEqual(['state:']);
    expect(suggest('', 0, schema)).toHaveLength(5);
    expect(suggest('la', 2, schema).map((one) => one.label)).toEqual(['lag>', 'label.site=', 'label.role=']);
  });
  it('proposes values, those that begin so first, and closes the term', () => {
    expect(suggest('addon:snmp', 10, schema).map((one) => one.label)).toEqual(['snmp-system', 'snmp-if']);
    expect(suggest('state:st', 8, schema)[0]).toMatchObject({ text: 'state:stale ', cursor: 12 });
  });
  it('works in the middle, after a comma and after a dash', () => {
    expect(suggest('-state:up,st text', 12, schema)[0]?.text).toBe('-state:up,stale text');
  });
  it('quotes what has spaces', () => {
    expect(suggest('label.role=e', 12, schema)[0]?.text).toBe('label.role="edge switch" ');
  });
});

describe('toggleTerm', () => {
  it('adds and takes away', () => {
    expect(toggleTerm('a', 'state:up')).toBe('a state:up');
    expect(toggleTerm('a state:up b', 'state:up')).toBe('a b');
  });
});

describe('termOf', () => {
  it.each(['berlin', 'New York', 'a,b', 'one two, three'])('finds exactly %s again', (value) => {
    const passes = compileFilter(parseFilter(termOf('label.site', '=', value)), { fields: [], text: () => '', label: (row: { site: string }) => row.site });
    expect(passes({ site: value })).toBe(true);
    expect(passes({ site: 'New' })).toBe(false);
    expect(passes({ site: 'a' })).toBe(false);
  });
});
