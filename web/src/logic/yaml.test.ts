import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { lineOf, parseYaml } from './yaml';

const read = (text: string) => {
  const found = parseYaml(text);
  expect(found.problem).toBeNull();
  return found.value;
};
const fault = (text: string) => parseYaml(text).problem;

describe('YAML by hand', () => {
  it('reads the graph of the documentation', () => {
    const value = read(`name: nightly
jobs:
  - {name: check-a, type: exec, estimate: 20s, arguments: {argv: [check_http, -H, a.example.org]}}
  - name: drain      # comment
    type: ssh
    depends_on: [[check-a, check-b]]     # any one of them is enough
    arguments: {command: drain-pool blue}
  - name: backup
    depends_on:
    - check-a
    - drain
    resources: {disk-io: 1}
`);
    expect(value).toEqual({
      name: 'nightly',
      jobs: [
        { name: 'check-a', type: 'exec', estimate: '20s', arguments: { argv: ['check_http', '-H', 'a.example.org'] } },
        { name: 'drain', type: 'ssh', depends_on: [['check-a', 'check-b']], arguments: { command: 'drain-pool blue' } },
        { name: 'backup', depends_on: ['check-a', 'drain'], resources: { 'disk-io': 1 } },
      ],
    });
  });
  it('reads JSON', () => {
    expect(read('{"a": [1, -2.5, "x\\n\\u00e9", null, true],\n "b": {"c": ""}, "__proto__": 1}')).toEqual(JSON.parse('{"a":[1,-2.5,"x\\n\\u00e9",null,true],"b":{"c":""},"__proto__":1}'));
  });
  it('knows scalars', () => {
    expect(read('a: yes\nb: ~\nc: 0x1f\nd: 1e3\ne: "1"\nf: \'it\'\'s\'\ng: 1.0.0\nh: http://x/y\ni: a#b\nj:')).toEqual({
      a: 'yes', b: null, c: 31, d: 1000, e: '1', f: "it's", g: '1.0.0', h: 'http://x/y', i: 'a#b', j: null,
    });
  });
  it('reads block texts and long texts', () => {
    expect(read('a: |\n  one\n    two\n\n  three\nb: >-\n  one\n  two\n\n  three\nc: long\n  goes on\nd: "x\n  y"\ne: |+\n  k\n\nf: 1')).toEqual({
      a: 'one\n  two\n\nthree\n', b: 'one two\nthree', c: 'long goes on', d: 'x y', e: 'k\n\n', f: 1,
    });
  });
  it('knows the line of each value', () => {
    const found = parseYaml('# head\njobs:\n  - name: a\n    arguments:\n      argv: [x,\n        y]\n');
    expect(lineOf(found, '/jobs/0/arguments/argv')).toBe(5);
    expect(lineOf(found, '/jobs/0/arguments/argv/1')).toBe(6);
    expect(lineOf(found, '/jobs/0/type')).toBe(3);
    expect(lineOf(found, '')).toBe(2);
  });
  it('says what is wrong and where', () => {
    expect(fault('a: 1\n\tb: 2')).toEqual({ line: 2, text: 'indent with spaces, not with tabs' });
    expect(fault('a: 1\na: 2')?.text).toContain('stands twice');
    expect(fault('a: [1, 2\nb: {')?.line).toBe(2);
    expect(fault('a: [1, 2')).toEqual({ line: 1, text: 'a comma or ] was expected after this item of the list' });
    expect(fault('a: "x')?.text).toContain('never closed');
    expect(fault('a: &x 1')?.text).toContain('anchors');
    expect(fault('a: b: c')?.text).toContain('quotes');
    expect(fault('a: 1\n   b: 2')?.line).toBe(2);
    expect(fault('- a\nb: 1')?.line).toBe(2);
    expect(fault('[1] x')?.text).toContain('does not belong');
    expect(fault('---\na: 1\n---\nb: 1')?.text).toContain('one document');
    expect(fault('"\\q": 1')?.text).toContain('backslash');
    expect(fault('['.repeat(100))?.text).toContain('nested');
  });
  it('reads every manifest that comes with the server', () => {
    const folder = '../addons';
    const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(names.length).toBeGreaterThan(15);
    for (const entry of names) {
      const found = parseYaml(readFileSync(`${folder}/${entry.name}/manifest.yaml`, 'utf8'));
      expect(found.problem, entry.name).toBeNull();
      expect((found.value as Record<string, unknown>)['name']).toBe(entry.name);
    }
  }, 60_000);
});
