import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../logic/yaml';
import type { JobType } from './model';
import { argumentLabel, emptyDraft, fieldOf, jobBody, kExample, splitPairs, splitWords } from './submit_form';

const type: JobType = {
  name: 'exec', help: '', weight: 1, slots: 8, rate: 0, priority: 'normal', timeout: 60, longest_timeout: 3600, attempts: 1,
  arguments: [
    { name: 'argv', kind: 'texts', required: true, help: '' },
    { name: 'environment', kind: 'map', required: false, help: '' },
    { name: 'port', kind: 'integer', required: false, help: '' },
    { name: 'methods', kind: 'texts', required: false, help: '' },
    { name: 'verify', kind: 'boolean', required: false, help: '' },
  ],
};

describe('the form of a job', () => {
  it('splits a command line without running anything', () => {
    expect(splitWords(`check_http -H "a b" 'c d' e\\ f "" "x\\"y" $HOME`)).toEqual(['check_http', '-H', 'a b', 'c d', 'e f', '', 'x"y', '$HOME']);
    expect(splitWords('  ')).toEqual([]);
  });
  it('reads pairs of lines', () => {
    expect(splitPairs('A: b=c\nX-Y = 1\n\n: no')).toEqual({ A: 'b=c', 'X-Y': '1' });
  });
  it('makes the body that the API takes, without what is empty', () => {
    const draft = {
      ...emptyDraft('exec'), name: ' now ', attempts: '3', backoff: '2s', hold: true, dependsOn: 'a, b', resources: 'cpu: 2, memory: 4GiB',
      arguments: { argv: 'echo "a b"', environment: 'A=1', port: '22', methods: 'icmp, snmp', verify: 'false' },
    };
    expect(jobBody(draft, type)).toEqual({
      type: 'exec', name: 'now', retry: { attempts: 3, backoff: '2s' }, hold: true, depends_on: ['a', 'b'], resources: { cpu: 2, memory: '4GiB' },
      arguments: { argv: ['echo', 'a b'], environment: { A: '1' }, port: 22, methods: ['icmp', 'snmp'], verify: false },
    });
    expect(jobBody(emptyDraft('exec'), type)).toEqual({ type: 'exec' });
  });
  it('leaves to the server what is no number', () => {
    expect(jobBody({ ...emptyDraft('exec'), arguments: { port: 'ssh' } }, type)).toEqual({ type: 'exec', arguments: { port: 'ssh' } });
  });
  it('names arguments as people do', () => {
    expect([argumentLabel('snmp_port'), argumentLabel('probe_timeout'), argumentLabel('url')]).toEqual(['SNMP port', 'Probe timeout', 'URL']);
  });
  it('knows the field of a mistake', () => {
    expect(fieldOf('/arguments/argv')).toBe('arguments/argv');
    expect(fieldOf('/jobs/0/arguments/argv/1')).toBe('arguments/argv');
    expect(fieldOf('/retry/attempts')).toBe('retry');
    expect(fieldOf('')).toBe('');
  });
  it('shows an example that can be read', () => {
    const found = parseYaml(kExample);
    expect(found.problem).toBeNull();
    expect((found.value as { jobs: unknown[] }).jobs).toHaveLength(2);
  });
});
