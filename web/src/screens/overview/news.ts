// Events in words, for the list of what happened. Pure.
import type { LiveEvent } from '../../api/live';
import type { Severity, TaskStateData } from '../../api/model';
import { targetOf } from '../../state/fleet_book';

export interface News {
  id: string;
  at: string;
  /** For the mark. */
  state: string;
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
  const make = (state: string, text: string): News => ({
    id: `t${data.change}`, at: data.at, state, subject: targetOf(key), text, link: { kind: 'target', key: targetOf(key) },
  });
  switch (data.kind) {
    case 'health':
      if (data.from === 'unknown' && data.to === 'up') return null;
      return make(data.to, data.to === 'up' ? 'answers again' : data.reason ? `is ${data.to}: ${data.reason}` : `is ${data.to}`);
    case 'dead_letter':
      return data.to === 'none' ? null : make('failed', 'was set aside as a dead letter');
    case 'enabled':
      return make(data.to === 'disabled' ? 'disabled' : 'up', data.to === 'disabled' ? 'was disabled' : 'was enabled');
    case 'faulted':
      return make('failed', data.message);
    default:
      return null;
  }
}

function ofIncident(event: LiveEvent<IncidentData>, key: string): News | null {
  const data = event.data;
  const device = data.device_name ?? '';
  const subject = device === '' || data.title.includes(device) ? data.title : `${device}: ${data.title}`;
  const make = (state: string, text: string): News => ({
    id: `i${data.id}.${data.version}`, at: event.at, state, subject, text, link: { kind: 'incident', key },
  });
  if (data.change === 'created') return make(data.severity, `incident opened, ${data.severity}`);
  if (data.change === 'resolved' || data.status === 'resolved') return make('resolved', 'incident resolved');
  if (data.status === 'acknowledged' && data.reason.startsWith('acknowledged')) return make('acknowledged', 'incident acknowledged');
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
