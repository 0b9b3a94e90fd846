// What GET /api/status-page tells everybody, and its words. Pure.
import { duration, percent } from '../logic/format';

export type State = 'up' | 'degraded' | 'down' | 'unknown';

export interface Day {
  day: string;
  uptime: number | null;
  down_seconds: number;
}

export interface Group {
  name: string;
  state: State;
  uptime_90d: number | null;
  days: Day[];
  members: number;
}

export interface Incident {
  title: string;
  state: 'open' | 'resolved';
  started: string;
  ended?: string;
  groups: string[];
  notes: { at: string; text: string }[];
}

export interface Status {
  title: string;
  updated_at: string;
  state: State;
  groups: Group[];
  incidents: Incident[];
}

export const kDays = 90;
const kMonths = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];

/** In the words that stand at the groups: what is called down here is called down there. */
export function headline(state: State, open: number, groups: readonly Pick<Group, 'state'>[]): string {
  switch (state) {
    case 'up':
      return open > 0 ? 'Everything answers; an incident is open' : 'Everything is up';
    case 'degraded':
      return groups.some((group) => group.state === 'down') ? 'Something is down' : 'Something is degraded';
    case 'down':
      return 'Everything is down';
    default:
      return 'Nothing is known yet';
  }
}

/** The last 90 days, oldest first; days before the first known one have no value. */
export function lastDays(days: readonly Day[], count = kDays): (Day | null)[] {
  const shown = days.slice(-count);
  return [...Array.from({ length: count - shown.length }, () => null), ...shown];
}

export type Level = 'full' | 'some' | 'bad' | 'none';

export function levelOf(day: Day | null): Level {
  if (day === null || day.uptime === null) return 'none';
  if (day.uptime >= 1 && day.down_seconds === 0) return 'full';
  return day.uptime >= 0.99 ? 'some' : 'bad';
}

export function dayName(day: string): string {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day);
  if (parts === null) return day;
  return `${Number(parts[3])} ${kMonths[Number(parts[2]) - 1] ?? ''} ${parts[1]}`;
}

export function dayWords(day: Day | null, back: number): string {
  if (day === null) return `${back === 0 ? 'today' : back === 1 ? 'yesterday' : `${back} days ago`}: no data`;
  if (day.uptime === null) return `${dayName(day.day)}: no data`;
  if (day.uptime >= 1 && day.down_seconds === 0) return `${dayName(day.day)}: up all the time`;
  const down = day.down_seconds > 0 ? `, down for ${duration(day.down_seconds)}` : '';
  return `${dayName(day.day)}: ${percent(day.uptime, 2)} up${down}`;
}

export function groupWords(group: Group): string {
  const bad = group.days.filter((day) => levelOf(day) === 'bad' || levelOf(day) === 'some').length;
  const days = bad === 0 ? 'no day with an outage' : `${bad} ${bad === 1 ? 'day' : 'days'} with an outage`;
  if (group.uptime_90d === null) return 'no data yet';
  const known = group.days.slice(-kDays).filter((day) => day.uptime !== null).length;
  const span = known >= kDays ? `up in ${kDays} days` : `up, of ${known} known ${known === 1 ? 'day' : 'days'}`;
  return `${percent(group.uptime_90d, 2)} ${span}, ${days}`;
}

/** "17 January 2026, 14:05" in the time of the reader. */
export function moment(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return text;
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getDate()} ${kMonths[at.getMonth()] ?? ''} ${at.getFullYear()}, ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** The same for everybody: "17 January 2026, 12:05 UTC", for a title. */
export function utcMoment(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return text;
  const [day = '', time = ''] = at.toISOString().split('T');
  return `${dayName(day)}, ${time.slice(0, 5)} UTC`;
}

export function openSince(started: string, now: number): string {
  return `since ${moment(started)}, ${lasted({ started }, now)} so far`;
}

export function lasted(incident: Pick<Incident, 'started' | 'ended'>, now: number): string {
  const from = Date.parse(incident.started);
  const to = incident.ended === undefined ? now : Date.parse(incident.ended);
  if (Number.isNaN(from) || Number.isNaN(to)) return '';
  return duration(Math.max(1, Math.round((to - from) / 1000)));
}

/** Where the badge of a group is, and texts to paste. */
export function snippets(page: string, group: string): { url: string; markdown: string; html: string } {
  const url = new URL(`api/status-page/badge/${encodeURIComponent(group)}`, page.split('#')[0]).toString();
  const home = page.split('#')[0] ?? page;
  const plain = group.replaceAll(/[[\]\\]/g, '');
  const safe = group.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
  return { url, markdown: `[![${plain}](${url})](${home})`, html: `<a href="${home}"><img src="${url}" alt="${safe}"></a>` };
}
