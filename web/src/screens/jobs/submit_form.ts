// From the fields of the form to the body of POST /api/jobs. Pure.
import type { JobArgument, JobType } from './model';

export interface JobDraft {
  type: string;
  name: string;
  priority: string;
  device: string;
  target: string;
  timeout: string;
  attempts: string;
  backoff: string;
  hold: boolean;
  dependsOn: string;
  resources: string;
  arguments: Record<string, string>;
}

export function emptyDraft(type: string): JobDraft {
  return { type, name: '', priority: '', device: '', target: '', timeout: '', attempts: '', backoff: '', hold: false, dependsOn: '', resources: '', arguments: {} };
}

/** "snmp_port" -> "SNMP port". */
export function argumentLabel(name: string): string {
  const words = name.split('_').map((word) => (/^(snmp|ssh|https?|url)$/.test(word) ? word.toUpperCase() : word));
  return words.join(' ').replace(/^./, (letter) => letter.toUpperCase());
}

export const kNeedsDevice = ['ssh'];
export const kNeedsTarget = ['poll'];

/** A program with its arguments as a shell would split them; nothing is expanded. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let now = '';
  let quote = '';
  let open = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at] as string;
    if (quote !== '') {
      if (letter === quote) quote = '';
      else if (letter === '\\' && quote === '"' && /["\\]/.test(text[at + 1] ?? '')) now += text[(at += 1)];
      else now += letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      open = true;
    } else if (letter === '\\' && at + 1 < text.length) {
      now += text[(at += 1)];
      open = true;
    } else if (/\s/.test(letter)) {
      if (open || now !== '') words.push(now);
      now = '';
      open = false;
    } else now += letter;
  }
  if (open || now !== '') words.push(now);
  return words;
}

/** Lines "name: value" or "name=value". */
export function splitPairs(text: string): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const line of text.split('\n')) {
    const found = /^\s*([^:=\s][^:=]*?)\s*[:=]\s*(.*?)\s*$/.exec(line);
    if (found?.[1] !== undefined) pairs[found[1]] = found[2] ?? '';
  }
  return pairs;
}

function argumentValue(argument: JobArgument, text: string): unknown {
  switch (argument.kind) {
    case 'integer':
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
    case 'boolean':
      return text === 'true';
    case 'texts':
      return argument.name === 'argv' ? splitWords(text) : text.split(/[\s,]+/).filter((word) => word !== '');
    case 'map':
      return splitPairs(text);
    default:
      return text;
  }
}

export function jobBody(draft: JobDraft, type: JobType): Record<string, unknown> {
  const body: Record<string, unknown> = { type: draft.type };
  const put = (key: string, value: unknown, wanted: boolean) => {
    if (wanted) body[key] = value;
  };
  put('name', draft.name.trim(), draft.name.trim() !== '');
  put('priority', draft.priority, draft.priority !== '');
  put('device', draft.device.trim(), draft.device.trim() !== '');
  put('target', draft.target.trim(), draft.target.trim() !== '');
  put('timeout', draft.timeout.trim(), draft.timeout.trim() !== '');
  const retry: Record<string, unknown> = {};
  if (draft.attempts.trim() !== '') retry['attempts'] = Number(draft.attempts);
  if (draft.backoff.trim() !== '') retry['backoff'] = draft.backoff.trim();
  put('retry', retry, Object.keys(retry).length > 0);
  put('hold', true, draft.hold);
  const needs = draft.dependsOn.split(/[\s,]+/).filter((word) => word !== '');
  put('depends_on', needs, needs.length > 0);
  const resources = Object.fromEntries(Object.entries(splitPairs(draft.resources.replaceAll(',', '\n'))).map(([name, value]) => [name, Number.isFinite(Number(value)) && value !== '' ? Number(value) : value]));
  put('resources', resources, Object.keys(resources).length > 0);
  const given: Record<string, unknown> = {};
  for (const argument of type.arguments) {
    const text = draft.arguments[argument.name] ?? '';
    if (text.trim() !== '') given[argument.name] = argumentValue(argument, text);
  }
  put('arguments', given, Object.keys(given).length > 0);
  return body;
}

/** The pointer of a mistake in the body, as the form asks for it: the name of a field. */
export function fieldOf(pointer: string): string {
  const parts = pointer.replace(/^\/jobs\/0/, '').split('/').filter((part) => part !== '');
  return parts[0] === 'arguments' && parts[1] !== undefined ? `arguments/${parts[1]}` : (parts[0] ?? '');
}

export const kExample = `name: nightly
jobs:
  - name: copy
    type: maintenance
    arguments: {steps: [backup]}
    estimate: 60s
  - name: tidy
    type: maintenance
    depends_on: [copy]                 # all of them; [[a, b]]: any one is enough
    arguments: {steps: [retention, compact]}
    retry: {attempts: 2, backoff: 30s}
`;
