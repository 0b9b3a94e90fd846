// Events in words, for the list of what happened. Pure.
import type { LiveEvent } from '../../api/live';
import type { Severity, TaskStateData } from '../../api/model';
import { targetOf } from '../../state/fleet_book';

export interface News {
  id: string;
  at: string;
  /** For the mark. */
  state: string;
  /** What happened, in a word or two: it is read first and never cut. */
  verb: string;
  subject: string;
  text: string;
  link: { kind: 'target' | 'incident'; key: string };
}

interface IncidentData {
  id: string;
  title: string;
  severity: Severity;
  status: string;
  change: string;
  reason: string;
  version: number;
  device_name?: string;
}

/** Nothing for what is not worth a line: first contact, budgets, repeated tellings. */
export function newsOf(event: LiveEvent): News | null {
  if (event.key === undefined) return null;
  if (event.type === 'task_state_changed') return ofTask(event as LiveEvent<TaskStateData>, event.key);
  if (event.type === 'incident_changed') return ofIncident(event as LiveEvent<IncidentData>, event.key);
  return null;
}

function ofTask(event: LiveEvent<TaskStateData>, key: string): News | null {
  const data = event.data;
  const make = (state: string, verb: string, text = ''): News => ({
    id: `t${data.change}`, at: data.at, state, verb, subject: targetOf(key), text, link: { kind: 'target', key: targetOf(key) },
  });
  switch (data.kind) {
    case 'health':
      if (data.from === 'unknown' && data.to === 'up') return null;
      return data.to === 'up' ? make('up', 'Up again') : make(data.to, data.to.charAt(0).toUpperCase() + data.to.slice(1), data.reason);
    case 'dead_letter':
      return data.to === 'none' ? null : make('failed', 'Dead letter');
    case 'enabled':
      return data.to === 'disabled' ? make('disabled', 'Disabled') : make('up', 'Enabled');
    case 'faulted':
      return make('failed', 'Failed', data.message);
    default:
      return null;
  }
}

function ofIncident(event: LiveEvent<IncidentData>, key: string): News | null {
  const data = event.data;
  const device = data.device_name ?? '';
  const subject = device === '' || data.title.includes(device) ? data.title : `${device}: ${data.title}`;
  const make = (state: string, verb: string, text = ''): News => ({
    id: `i${data.id}.${data.version}`, at: event.at, state, verb, subject, text, link: { kind: 'incident', key },
  });
  if (data.change === 'created') return make(data.severity, `Opened, ${data.severity}`);
  if (data.change === 'resolved' || data.status === 'resolved') return make('resolved', 'Resolved');
  if (data.status === 'acknowledged' && data.reason.startsWith('acknowledged')) return make('acknowledged', 'Acknowledged');
  return null;
}

/** The newest first, each once, at most `most`. */
export function addNews(before: readonly News[], events: readonly LiveEvent[], most = 40): readonly News[] {
  const fresh: News[] = [];
  const known = new Set(before.map((one) => one.id));
  for (const event of events) {
    const news = newsOf(event);
    if (news === null || known.has(news.id)) continue;
    known.add(news.id);
    fresh.push(news);
  }
  if (fresh.length === 0) return before;
  // Older ones may be told later, when one looks further back.
  return [...fresh.reverse(), ...before].sort((a, b) => Date.parse(b.at) - Date.parse(a.at)).slice(0, most);
}
