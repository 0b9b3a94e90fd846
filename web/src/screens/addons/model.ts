// What the API tells of addons, and what can be read from a manifest in the page. Pure.
import type { Addon, AddonParameter } from '../../api/model';
import type { FieldError } from '../../api/problem';
import type { CodeProblem } from '../../design';
import { lineOf, parseYaml } from '../../logic/yaml';
import type { Plain } from '../../logic/yaml';

export interface AddonRow extends Addon {
  origin: 'shipped' | 'file' | 'api' | 'discovery';
  revision: number;
  changed_at?: string;
}

export interface AddonDetail extends AddonRow {
  parameters: AddonParameter[];
  groups: { name: string; interval?: number }[];
  metrics: { name: string; type: string; unit?: string; help?: string; per_row: boolean }[];
}

export const kOriginWords: Record<AddonRow['origin'], string> = {
  shipped: 'came with the server',
  file: 'from the folder of --addons',
  api: 'stored here',
  discovery: 'found by a sweep',
};

export interface AlertRule {
  name: string;
  kind: 'condition' | 'signal';
  severity: string;
  /** When it is raised, in the words of the manifest. */
  when: string;
  summary: string;
}

type Map = { [key: string]: Plain };

function asMap(value: Plain | undefined): Map {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

function asList(value: Plain | undefined): Plain[] {
  return Array.isArray(value) ? value : [];
}

function asText(value: Plain | undefined): string {
  return value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The alerts a manifest of our own form can raise; null if it cannot be read here. */
export function alertRules(manifest: string): AlertRule[] | null {
  const { value, problem } = parseYaml(manifest);
  if (problem !== null) return null;
  const root = asMap(value);
  const types = asMap(root['signal_types']);
  const rules: AlertRule[] = [];
  for (const one of asList(root['conditions'])) {
    const rule = asMap(one);
    const metric = asText(rule['metric']);
    const when = rule['absent'] !== undefined ? `${metric} has no value for ${asText(rule['absent'])}` : rule['changed'] === true ? `${metric} changes` : `${metric} ${asText(rule['trigger'])}`;
    const clear = rule['clear'] === undefined ? '' : `, over when ${asText(rule['clear'])}`;
    const worse = Object.entries(asMap(rule['severities'])).map(([severity, limit]) => `; ${severity} ${asText(limit)}`).join('');
    rules.push({ name: asText(rule['name']), kind: 'condition', severity: asText(rule['severity']) || 'warning', when: when + clear + worse, summary: asText(rule['summary']) });
  }
  for (const one of asList(root['signals'])) {
    const rule = asMap(one);
    const type = asText(rule['type']);
    const looks = { ...asMap(types[type]), ...rule };
    const when = asText(rule['when']) || (rule['trap'] === undefined ? 'when it is told' : `trap ${asText(rule['trap'])}`);
    rules.push({ name: type, kind: 'signal', severity: asText(looks['severity']) || 'warning', when, summary: asText(looks['title']) || asText(looks['message']) });
  }
  const named = new Set(rules.map((rule) => rule.name));
  for (const [type, one] of Object.entries(types)) {
    if (named.has(type) || type === '*') continue;
    const looks = asMap(one);
    rules.push({ name: type, kind: 'signal', severity: asText(looks['severity']) || 'warning', when: 'when it is told', summary: asText(looks['title']) || asText(looks['message']) });
  }
  return rules;
}

/** Mistakes of the server at the lines of the text: "line 9: is no known key". */
export function mistakesOf(errors: readonly FieldError[], manifest: string): CodeProblem[] {
  const read = parseYaml(manifest);
  return errors.map((error) => {
    const told = /^line (\d+): (.*)$/s.exec(error.detail);
    const line = told?.[1] === undefined ? (error.pointer ? lineOf(read, error.pointer) : null) : Number(told[1]);
    const text = told?.[2] ?? error.detail;
    return { line, text: error.pointer ? `${error.pointer} ${text}` : text };
  });
}

/** What of a manifest the trial needs to know. */
export function outline(manifest: string): { name: string; protocol: string; parameters: { name: string; required: boolean; initial: string; help: string }[] } {
  const root = asMap(parseYaml(manifest).value);
  const parameters = Object.entries(asMap(root['parameters'])).map(([name, one]) => {
    const spec = asMap(one);
    return { name, required: spec['required'] === true, initial: asText(spec['default'] ?? spec['example']), help: asText(spec['description']) };
  });
  return { name: asText(root['name']), protocol: asText(root['protocol']), parameters };
}

export interface Reply {
  text: string;
  status: string;
}

/** Protocols whose answer is one text that can be pasted. */
export const kPasted: Record<string, { label: string; status: string; statusLabel: string; example: string }> = {
  http: { label: 'Body of the answer', status: '200', statusLabel: 'Status', example: '{"n": 3}' },
  snmp: { label: 'Lines as snmpwalk -On prints them', status: '', statusLabel: '', example: '.1.3.6.1.2.1.1.3.0 = Timeticks: (4200) 0:00:42.00' },
  ssh: { label: 'Output of the command', status: '0', statusLabel: 'Exit status', example: '' },
  exec: { label: 'Output of the program', status: '0', statusLabel: 'Exit status', example: 'OK - all is well | time=0.1s' },
  tcp: { label: 'What was received', status: '', statusLabel: '', example: '220 mail ready' },
  webhook: { label: 'Body of the message', status: '', statusLabel: '', example: '{"alert": "disk_full", "severity": "major"}' },
};

export function stepsOf(protocol: string, replies: readonly Reply[], apart: number): Plain[] {
  return replies.map((reply, index): Plain => {
    const at = `${index * apart}s`;
    switch (protocol) {
      case 'snmp':
        return { at, snmp: reply.text };
      case 'ssh':
      case 'exec':
        return { at, command: { exit: Number(reply.status) || 0, output: reply.text } };
      case 'tcp':
        return { at, tcp: { received: reply.text } };
      case 'webhook':
        return { at, webhook: { body: reply.text } };
      default:
        return { at, http: { status: Number(reply.status) || 200, body: reply.text } };
    }
  });
}

/** Steps for the editor, of protocols whose answers are no plain text. */
export function stepsTemplate(protocol: string): string {
  const bodies: Record<string, string> = {
    icmp: '  icmp: {sent: 4, round_trips: [1ms, 2ms, 1ms, 3ms]}',
    tls: '  tls:\n    protocol: TLSv1.3\n    name_matches: true\n    names: [www.example.org]\n    certificates: [{subject: www.example.org, issuer: Example CA, days: 20, age_days: 70}]',
    dns: '  dns:\n    status: NOERROR\n    answers: [{name: www.example.org, type: A, ttl: 300, data: 192.0.2.1}]',
    trap: '  trap:\n    oid: 1.3.6.1.6.3.1.1.5.3\n    varbinds: |\n      .1.3.6.1.2.1.2.2.1.1.3 = INTEGER: 3',
    push: '  push: {up: true, value: 42.5}',
    snmp: '  snmp: |\n    .1.3.6.1.2.1.1.3.0 = Timeticks: (4200) 0:00:42.00',
    ssh: '  command: {exit: 0, output: "..."}',
    exec: '  command: {exit: 0, output: "OK | time=0.1s"}',
    webhook: '  webhook: {body: \'{"alert": "disk_full"}\'}',
    tcp: '  tcp: {received: 220 mail ready}',
  };
  return `- at: 0s\n${bodies[protocol] ?? '  http: {status: 200, body: \'{"n": 3}\'}'}\n`;
}

export interface TrialStep {
  failed: boolean;
  changed: boolean;
  readings: Record<string, string>;
  samples: Record<string, string>;
  conditions: Record<string, string>;
  rows: string[];
  signals: { type: string; subject?: string; clear: boolean; severity: string; title?: string; message?: string }[];
  problems: string[];
  missing: number;
  dropped: number;
  degraded: boolean;
  unreadable: boolean;
  restarted: boolean;
}

export interface Trial {
  asks: string[];
  steps: TrialStep[];
}

/** What a device said to the requests of a trial, in their order. */
export interface FreshReply {
  text: string;
  status: number;
  problem?: string;
}

export interface FreshTrial extends Trial {
  replies: FreshReply[];
}

export interface TrialJob {
  state: string;
  verdict?: string;
  failure?: string;
}

export interface TrialRun {
  attempt: number;
  error?: string;
  output: string;
}

/** What came of a trial that asked. One that never ran has no page; its reason is the only thing there is to show. */
export function freshTrial(job: TrialJob, runs: readonly TrialRun[]): FreshTrial {
  const run = runs.reduce<TrialRun | undefined>((newest, one) => (newest === undefined || one.attempt > newest.attempt ? one : newest), undefined);
  if (run !== undefined && run.output !== '') return JSON.parse(run.output) as FreshTrial;
  const why = run?.error || job.failure || (job.state === 'cancelled' ? 'It was cancelled.' : 'It did not run.');
  const step: TrialStep = {
    failed: true, changed: false, readings: {}, samples: {}, conditions: {}, rows: [], signals: [], problems: [why], missing: 0, dropped: 0,
    degraded: false, unreadable: false, restarted: false,
  };
  return { asks: [], steps: [step], replies: [] };
}

export const kStarter = `schema: pollux/1
name: my-door
version: 1.0.0
title: Door
description: Whether it is open.
category: building
protocol: http
interval: 60s

http:
  endpoints:
    - {name: status, path: /status, format: json}

metrics:
  - {name: open, type: gauge, help: 1 when it is open., path: $.open}

conditions:
  - {name: door_open, metric: open, trigger: "== 1", severity: warning, summary: The door is open.}
`;
