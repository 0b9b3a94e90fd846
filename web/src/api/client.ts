// Requests to the API, relative to the page, with everything the server expects of a browser:
// the session's cookie, the token against forged requests, keys that make a POST happen once.
import { learnServerTime } from '../logic/clock';
import { Problem, problemOf } from './problem';

export { Problem, asProblem, isAbort } from './problem';

export type QueryValue = string | number | boolean | null | undefined | readonly string[];

export interface RequestOptions {
  query?: Record<string, QueryValue>;
  body?: unknown;
  /** Version of the object that is changed; 412 means that somebody was faster. */
  ifMatch?: string;
  signal?: AbortSignal;
  /** Same key, same act: give it when a request is repeated by hand. */
  idempotencyKey?: string;
  /** Milliseconds after which an answer to a GET is not waited for any more. */
  patience?: number;
  /** A 401 is the answer and not the end of the session (login, first look). */
  quiet401?: boolean;
}

export interface Answer<T> {
  data: T;
  etag: string | null;
  status: number;
}

// Only in memory: a script of another page must not find it.
let csrfToken = '';
let onSessionLost: () => void = () => {};
let onAnswer: (reached: boolean) => void = () => {};

export function setCsrfToken(token: string): void {
  csrfToken = token;
}

export function whenSessionLost(handler: () => void): void {
  onSessionLost = handler;
}

/** Told after each request whether the server itself answered, whatever it said. */
export function whenAnswered(handler: (reached: boolean) => void): void {
  onAnswer = handler;
}

/** Where the server is: the folder of the page, whatever a proxy put in front of it. */
export function apiUrl(path: string, query?: Record<string, QueryValue>): string {
  const url = new URL(path.replace(/^\//, ''), document.baseURI.split('#')[0]);
  url.hash = '';
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === null || value === undefined || value === '') continue;
    if (Array.isArray(value)) for (const one of value as readonly string[]) url.searchParams.append(name, one);
    else url.searchParams.set(name, String(value));
  }
  return url.toString();
}

/** A path with keys in it: path`api/targets/${key}/poll`. */
export function path(parts: TemplateStringsArray, ...keys: readonly string[]): string {
  return parts.reduce((text, part, index) => text + encodeURIComponent(keys[index - 1] ?? '') + part);
}

export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

// A connection that died without a word (a tunnel, a network that changed) would hold up everything behind it for many minutes.
const kPatience = 45_000;

async function send<T>(method: string, target: string, options: RequestOptions): Promise<Answer<T>> {
  const ender = new AbortController();
  const end = () => ender.abort();
  if (options.signal?.aborted) end();
  options.signal?.addEventListener('abort', end);
  let late = false;
  // Only where nothing is changed: an act that was given up might still happen.
  const timer = method === 'GET' ? setTimeout(() => ((late = true), end()), options.patience ?? kPatience) : undefined;
  try {
    return await ask<T>(method, target, options, ender.signal);
  } catch (error) {
    if (!late || options.signal?.aborted) throw error;
    onAnswer(false);
    throw new Problem({ status: 0, code: 'page.late', title: 'No answer', detail: 'The server did not answer in time.' });
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', end);
  }
}

async function ask<T>(method: string, target: string, options: RequestOptions, signal: AbortSignal): Promise<Answer<T>> {
  const headers = new Headers({ Accept: 'application/json' });
  if (options.body !== undefined) headers.set('Content-Type', 'application/json');
  if (method !== 'GET' && csrfToken !== '') headers.set('X-CSRF-Token', csrfToken);
  if (options.ifMatch !== undefined) headers.set('If-Match', options.ifMatch);
  if (method === 'POST') headers.set('Idempotency-Key', options.idempotencyKey ?? randomKey());
  let response: Response;
  try {
    response = await fetch(apiUrl(target, options.query), {
      method,
      headers,
      body: options.body === undefined ? null : JSON.stringify(options.body),
      signal,
      credentials: 'same-origin',
      cache: 'no-store',
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    onAnswer(false);
    throw new Problem({
      status: 0,
      code: 'page.offline',
      title: 'No connection',
      detail: 'The server cannot be reached. Nothing was changed that you were not told of.',
    });
  }
  // A proxy that answers for a server that is gone has no JSON of ours.
  onAnswer(response.status < 502 || response.status > 504 || (response.headers.get('Content-Type') ?? '').includes('json'));
  const date = response.headers.get('Date');
  if (date !== null) learnServerTime(Date.parse(date) + 500);
  if (!response.ok) {
    if (response.status === 401 && options.quiet401 !== true) onSessionLost();
    throw await problemOf(response);
  }
  const etag = response.headers.get('ETag');
  if (response.status === 204) return { data: undefined as T, etag, status: 204 };
  const kind = response.headers.get('Content-Type') ?? '';
  const data = kind.includes('json') ? ((await response.json()) as T) : ((await response.text()) as T);
  return { data, etag, status: response.status };
}

export const api = {
  get: async <T>(target: string, options: RequestOptions = {}): Promise<T> =>
    (await send<T>('GET', target, options)).data,
  post: async <T>(target: string, body?: unknown, options: RequestOptions = {}): Promise<T> =>
    (await send<T>('POST', target, { ...options, body })).data,
  put: async <T>(target: string, body: unknown, options: RequestOptions = {}): Promise<T> =>
    (await send<T>('PUT', target, { ...options, body })).data,
  delete: async <T>(target: string, options: RequestOptions = {}): Promise<T> =>
    (await send<T>('DELETE', target, options)).data,
  /** With the ETag, for what is changed afterwards with `ifMatch`. */
  full: send,
};

/** All pages of a list, at most `most` items. */
export async function allItems<T>(
  target: string,
  query: Record<string, QueryValue> = {},
  most = 5000,
  signal?: AbortSignal,
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const options: RequestOptions = { query: { limit: 1000, ...query, cursor } };
    if (signal) options.signal = signal;
    const page = await api.get<{ items: T[]; next?: string }>(target, options);
    items.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined && items.length < most);
  return items;
}
