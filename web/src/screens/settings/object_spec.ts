// Receivers, routes and silences between a form and the API: what a form knows has fields, the rest of an object
// stays as it is, as JSON. Pure.
import type { ChannelSpec, RouteSpec, SilenceSpec } from './shapes';

export type ChannelKind = 'service' | 'webhook' | 'email' | 'exec';

export interface ChannelForm {
  kind: ChannelKind;
  name: string;
  url: string;
  template: string;
  to: string;
  from: string;
  argv: string;
  credentials: string;
  perMinute: number | null;
  sendResolved: boolean;
  params: string;
}

export const kNewChannel: ChannelForm = {
  kind: 'service', name: '', url: '', template: '', to: '', from: '', argv: '', credentials: '', perMinute: 10, sendResolved: true, params: '',
};

export function lines(text: string): string[] {
  return text.split(/[\n,]/).map((one) => one.trim()).filter((one) => one !== '');
}

export function channelForm(spec: ChannelSpec): ChannelForm {
  const web = spec.kind === 'webhook' || spec.kind === undefined;
  const service = web && spec.url !== undefined && !/^https?:/.test(spec.url);
  return {
    kind: spec.kind === 'email' || (spec.kind === undefined && spec.to !== undefined) ? 'email' : spec.kind === 'exec' || (spec.kind === undefined && spec.argv !== undefined) ? 'exec' : service ? 'service' : 'webhook',
    name: spec.name ?? '',
    url: spec.url ?? '',
    template: spec.template ?? '',
    to: (spec.to ?? []).join('\n'),
    from: spec.from ?? '',
    argv: (spec.argv ?? []).join('\n'),
    credentials: spec.credentials ?? '',
    perMinute: spec.per_minute ?? 10,
    sendResolved: spec.send_resolved !== false,
    params: spec.params === undefined ? '' : JSON.stringify(spec.params, null, 2),
  };
}

/** Throws a text that says what is wrong when the parameters are no JSON. */
export function channelSpec(form: ChannelForm): ChannelSpec {
  const spec: ChannelSpec = {};
  if (form.name.trim() !== '') spec.name = form.name.trim();
  if (form.kind === 'email') {
    spec.kind = 'email';
    spec.to = lines(form.to);
    if (form.from.trim() !== '') spec.from = form.from.trim();
    if (form.url.trim() !== '') spec.url = form.url.trim();
  } else if (form.kind === 'exec') {
    spec.kind = 'exec';
    spec.argv = form.argv.split('\n').map((one) => one.trim()).filter((one) => one !== '');
  } else {
    spec.url = form.url.trim();
    if (form.kind === 'webhook') spec.kind = 'webhook';
    if (form.template.trim() !== '') spec.template = form.template.trim();
  }
  if (form.credentials.trim() !== '') spec.credentials = form.credentials.trim();
  if (form.perMinute !== null && form.perMinute !== 10) spec.per_minute = form.perMinute;
  if (!form.sendResolved) spec.send_resolved = false;
  if (form.params.trim() !== '') spec.params = parseJson(form.params, 'The parameters') as Record<string, unknown>;
  return spec;
}

export function parseJson(text: string, what: string): unknown {
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found !== 'object' || found === null || Array.isArray(found)) throw new Error('an object in braces is expected');
    return found;
  } catch (error) {
    throw new Error(`${what} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A list of matchers, also of a map of labels. */
export function matchers(match: string[] | Record<string, string> | undefined): string[] {
  if (match === undefined) return [];
  return Array.isArray(match) ? match : Object.entries(match).map(([label, value]) => `${label}="${value}"`);
}

/** A matcher in one line: a comma inside quotes or braces is part of the value. */
export function matcherLines(text: string): string[] {
  return text.split('\n').map((one) => one.trim()).filter((one) => one !== '');
}

export interface RouteForm {
  order: number | null;
  match: string;
  atLeast: string;
  receivers: string[];
  groupBy: string;
  groupWait: string;
  groupInterval: string;
  repeat: string;
  goOn: boolean;
  /** Everything else: hours, escalation. */
  rest: string;
}

export function routeForm(spec: RouteSpec): RouteForm {
  const { order, match, at_least, receivers, group_by, group_wait, group_interval, repeat, go_on, ...rest } = spec;
  return {
    order: order ?? null,
    match: matchers(match).join('\n'),
    atLeast: at_least ?? '',
    receivers: receivers ?? [],
    groupBy: (group_by ?? []).join(', '),
    groupWait: group_wait ?? '5s',
    groupInterval: group_interval ?? '5m',
    repeat: repeat ?? '4h',
    goOn: go_on === true,
    rest: Object.keys(rest).length === 0 ? '' : JSON.stringify(rest, null, 2),
  };
}

export function routeSpec(form: RouteForm): RouteSpec {
  const rest = form.rest.trim() === '' ? {} : (parseJson(form.rest, 'Hours and escalation') as RouteSpec);
  const match = matcherLines(form.match);
  const groupBy = lines(form.groupBy);
  return {
    ...rest,
    ...(form.order === null ? {} : { order: form.order }),
    ...(match.length === 0 ? {} : { match }),
    ...(form.atLeast === '' ? {} : { at_least: form.atLeast }),
    receivers: form.receivers,
    ...(groupBy.length === 0 ? {} : { group_by: groupBy }),
    group_wait: form.groupWait.trim(),
    group_interval: form.groupInterval.trim(),
    repeat: form.repeat.trim(),
    ...(form.goOn ? { go_on: true } : {}),
  };
}

export type SilenceState = 'active' | 'later' | 'over' | 'recurring';

export function silenceState(spec: SilenceSpec, now: number): SilenceState {
  if (spec.cron !== undefined) return 'recurring';
  if (spec.until !== undefined && Date.parse(spec.until) <= now) return 'over';
  if (spec.from !== undefined && Date.parse(spec.from) > now) return 'later';
  return 'active';
}

/** "a=b" lines as labels, for asking who would be told. */
export function labelsOf(text: string): { labels: Record<string, string>; wrong: string[] } {
  const labels: Record<string, string> = {};
  const wrong: string[] = [];
  for (const one of text.split(/[\n,]/).map((part) => part.trim()).filter((part) => part !== '')) {
    const at = one.indexOf('=');
    const name = at < 0 ? '' : one.slice(0, at).trim();
    if (name === '') wrong.push(one);
    else labels[name] = one.slice(at + 1).trim().replace(/^"(.*)"$/, '$1');
  }
  return { labels, wrong };
}
