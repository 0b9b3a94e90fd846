// One clock for the page: the server's. Ages are told against it, so a wrong clock of the machine
// that shows the page does not make data look fresh or old.
import { createSignal } from 'solid-js';

let offset = 0;

/** Milliseconds since the epoch, as the server counts them. */
export function serverNow(): number {
  return Date.now() + offset;
}

/** Call with a time the server just told. Small differences are the network's and are left alone. */
export function learnServerTime(milliseconds: number): void {
  if (!Number.isFinite(milliseconds)) return;
  const seen = milliseconds - Date.now();
  if (Math.abs(seen - offset) > 1500) offset = seen;
}

const [now, setNow] = createSignal(serverNow());
let timer: ReturnType<typeof setInterval> | undefined;

/** The present to the second; what reads it inside a component is brought up to date by itself. */
export function tick(): number {
  timer ??= setInterval(() => setNow(serverNow()), 1000);
  return now();
}

export function parseTime(text: string | null | undefined): number | null {
  if (text === null || text === undefined || text === '') return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : at;
}

const two = (value: number) => String(value).padStart(2, '0');

/** Local time, "2026-01-31 14:05:09"; only the time of day if it is today. */
export function localTime(milliseconds: number, reference = serverNow()): string {
  const at = new Date(milliseconds);
  const today = new Date(reference);
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  if (at.toDateString() === today.toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

export function utcTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Both in one line, "14:05:09 (12:05:09 UTC)", for where there is no pointer that could ask for the other one. */
export function bothTimes(milliseconds: number, reference = serverNow()): string {
  const local = localTime(milliseconds, reference);
  const utc = utcTime(milliseconds);
  const [day = '', time = ''] = utc.split(' ');
  if (local.endsWith(time) && localTime(milliseconds, 0).startsWith(day)) return `${local} UTC`;
  return `${local} (${localTime(milliseconds, 0).startsWith(day) ? `${time} UTC` : utc})`;
}

/** For a title: the whole local time, and UTC. */
export function timeTitle(milliseconds: number): string {
  return `${localTime(milliseconds, 0)} local, ${utcTime(milliseconds)}`;
}
