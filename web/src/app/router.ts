// Routing by the part of the address after `#`, so that the server needs to know nothing of screens:
//   #/fleet?filter=state%3Adown     #/targets/pve%3A%3Anode1
import { createSignal, lazy } from 'solid-js';
import type { Component } from 'solid-js';
import { Problem } from '../api/problem';
import type { IconName } from '../design/Icon';

export interface Screen {
  path: string;
  name: string;
  title: string;
  component: Component;
  load: () => Promise<unknown>;
  nav?: { icon: IconName; key: string };
}

export type Query = Record<string, string | undefined>;

export interface Place {
  path: string;
  query: Query;
}

type Loader = () => Promise<{ default: Component }>;

/** A part of the page that is not there any more: after an update of the server only the whole page helps. */
export const kOutdated = 'page.outdated';

function outdated(): never {
  throw new Problem({ status: 0, code: kOutdated, detail: 'A part of the page could not be loaded: the server cannot be reached, or it was updated. Trying again loads the page anew.' });
}

/** One line of routes.ts. */
export function screen(path: string, name: string, title: string, load: Loader, nav?: Screen['nav']): Screen {
  return { path, name, title, component: lazy(() => load().catch(outdated)), load, ...(nav ? { nav } : {}) };
}

export function parsePlace(hash: string): Place {
  const [path = '', search = ''] = hash.replace(/^#/, '').split('?', 2);
  const query: Query = {};
  for (const [name, value] of new URLSearchParams(search)) query[name] = value;
  return { path: path === '' ? '/' : path, query };
}

/** Parameters if the path is of this pattern: /targets/:key matches /targets/a%2Fb. */
export function matchPath(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split('/');
  const given = path.replace(/\/$/, '').split('/');
  if (pattern === '/') return path === '/' || path === '' ? {} : null;
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (let at = 0; at < wanted.length; at += 1) {
    const want = wanted[at] ?? '';
    const have = given[at] ?? '';
    if (want.startsWith(':')) {
      if (have === '') return null;
      try {
        params[want.slice(1)] = decodeURIComponent(have);
      } catch {
        return null;
      }
    } else if (want !== have) return null;
  }
  return params;
}

/** A link: href('/targets/:key', { key }, { tab: 'runs' }) -> "#/targets/a%3A%3Ab?tab=runs". */
export function href(pattern: string, params: Record<string, string> = {}, query: Query = {}): string {
  const path = pattern
    .split('/')
    .map((part) => (part.startsWith(':') ? encodeURIComponent(params[part.slice(1)] ?? '') : part))
    .join('/');
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') search.set(name, value);
  const text = search.toString();
  return `#${path}${text === '' ? '' : `?${text}`}`;
}

const here = () => parsePlace(globalThis.location?.hash ?? '');
const [place, setPlace] = createSignal<Place>(here());
globalThis.addEventListener?.('hashchange', () => setPlace(here()));

export { place };

export function navigate(to: string, options: { replace?: boolean } = {}): void {
  const hash = to.startsWith('#') ? to : `#${to}`;
  if (options.replace) {
    history.replaceState(null, '', hash);
    setPlace(here());
  } else location.hash = hash;
}

export function query(name: string): string {
  return place().query[name] ?? '';
}

/** Changes parts of the query without a new entry in the history; empty takes a part away. */
export function setQuery(change: Query): void {
  const now = place();
  const search: Query = { ...now.query, ...change };
  navigate(href(now.path, {}, search), { replace: true });
}

const [params, setParams] = createSignal<Record<string, string>>({});
export { params, setParams };

/** Inside a screen: the parameter of its path. */
export function param(name: string): string {
  return params()[name] ?? '';
}
