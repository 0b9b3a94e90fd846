// What stands around every screen: name, search, connection, user, navigation; and the keys that work
// everywhere. It also says so, loudly, when what is shown does not move any more.
import { createEffect, createMemo, createSignal, ErrorBoundary, For, lazy, on, onCleanup, onMount, Show, Suspense } from 'solid-js';
import type { JSX } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import { kAskEvery, live } from '../api/live';
import { asProblem } from '../api/problem';
import { Button } from '../design/Button';
import { ConfirmHost } from '../design/Dialog';
import { Icon } from '../design/Icon';
import icon from '../design/icon.svg';
import { KeyHelp } from '../design/KeyHelp';
import { Menu } from '../design/Menu';
import type { MenuEntry } from '../design/Menu';
import { EmptyState, ErrorState, Skeleton } from '../design/States';
import { setThemeChoice, themeChoice } from '../design/theme';
import { toastProblem, ToastHost } from '../design/Toast';
import { tick } from '../logic/clock';
import { duration, shortDuration } from '../logic/format';
import { fleet } from '../state/fleet';
import { checkSession, logout, me } from '../state/session';
import { handleKey, keyHints, useKeys } from './keys';
import { href, kOutdated, matchPath, navigate, place, setParams } from './router';
import { routes } from './routes';
import { Search } from './Search';
import { startDialog } from '../state/start';
import './shell.css';

const StartHost = lazy(() => import('../screens/start/StartHost'));

export function Shell(): JSX.Element {
  const [help, setHelp] = createSignal(false);
  let search!: HTMLInputElement;
  let main!: HTMLElement;

  onMount(() => {
    live.start();
    fleet.start();
    document.addEventListener('keydown', handleKey);
  });
  onCleanup(() => {
    live.stop();
    fleet.stop();
    document.removeEventListener('keydown', handleKey);
  });

  const now = createMemo(() => {
    for (const route of routes) {
      const found = matchPath(route.path, place().path);
      if (found !== null) {
        setParams(found);
        return route;
      }
    }
    return null;
  });
  createEffect(() => {
    const bad = fleet.counts().down;
    document.title = `${bad > 0 ? `(${bad}) ` : ''}${now()?.title ?? 'Not found'} · Pollux`;
  });
  createEffect(() => {
    const { state } = live.connection();
    document.documentElement.dataset['connection'] = state === 'live' || state === 'asking' ? state : 'stale';
  });

  // Who opened a screen from inside another one stands at its beginning, not at that of the page.
  createEffect(
    on(now, () => {
      if (document.activeElement === document.body) main.focus({ preventScroll: true });
    }, { defer: true }),
  );

  // A session that has ended also ends the connection: asking tells which of both it is.
  createEffect(
    on(
      () => live.connection().retryAt,
      (retryAt) => {
        if (retryAt !== null) void checkSession();
      },
    ),
  );

  const going: Record<string, readonly [string, () => void]> = {};
  for (const route of routes) {
    if (route.nav) going[`g ${route.nav.key}`] = [`Go to ${route.title}`, () => navigate(href(route.path))];
  }
  useKeys('Everywhere', {
    '/': ['Search', () => search.focus()],
    f: ['Filter this table', () => main.querySelector<HTMLElement>('[data-filter]')?.focus()],
    j: ['Next row', () => startTable(main, 'j')],
    k: ['Row before', () => startTable(main, 'k')],
    '?': ['These keys', () => setHelp(true)],
    ...going,
  });

  return (
    <div class="shell">
      <a class="skip button" href="#main" onClick={(event) => (event.preventDefault(), main.focus())}>Skip to the content</a>
      <header class="top">
        <a class="name" href={href('/')} aria-label="Pollux, to the overview"><img src={icon} width="22" height="22" alt="" /><span>Pollux</span></a>
        <Search ref={(element) => (search = element)} />
        <span class="spring" />
        <ConnectionMark />
        <UserMenu openHelp={() => setHelp(true)} />
      </header>
      <Banner />
      <nav class="side" aria-label="Screens">
        <For each={routes.filter((route) => route.nav)}>
          {(route) => (
            <a href={href(route.path)} aria-current={isAt(route.path) ? 'page' : undefined} title={route.title}>
              <Icon name={route.nav?.icon ?? 'info'} size={18} /><span>{route.title}</span>
            </a>
          )}
        </For>
      </nav>
      <main class="main" id="main" ref={main} tabindex={-1}>
        <Show when={now()} keyed fallback={<EmptyState icon="search" title="There is no such screen"><a class="button" href={href('/')}>To the overview</a></EmptyState>}>
          {(route) => (
            <ErrorBoundary fallback={(error, reset) => <ErrorState problem={asProblem(error)} retry={() => (asProblem(error).code === kOutdated ? location.reload() : reset())} title="This screen failed" />}>
              <Suspense fallback={<Skeleton lines={8} />}><Dynamic component={route.component} /></Suspense>
            </ErrorBoundary>
          )}
        </Show>
      </main>
      <ConfirmHost />
      <Show when={startDialog()}><Suspense><StartHost /></Suspense></Show>
      <ToastHost />
      <Show when={help()}>
        <KeyHelp
          hints={[
            ...keyHints(),
            { keys: 'j k', does: 'Move', place: 'In a table' },
            { keys: 'Enter', does: 'Open', place: 'In a table' },
            { keys: 'Space x', does: 'Select', place: 'In a table' },
            { keys: '← →', does: 'Close and open a group', place: 'In a table' },
            { keys: '← →', does: 'Read the values, sample by sample', place: 'In a chart' },
            { keys: '+ -', does: 'Zoom in and out', place: 'In a chart' },
            { keys: 'Shift ← →', does: 'Earlier and later', place: 'In a chart' },
            { keys: 'Escape', does: 'Show all again', place: 'In a chart' },
          ]}
          onClose={() => setHelp(false)}
        />
      </Show>
    </div>
  );
}

function isAt(path: string): boolean {
  const here = place().path;
  return path === '/' ? here === '/' : here === path || here.startsWith(`${path}/`);
}

function startTable(main: HTMLElement, key: string): void {
  const table = main.querySelector<HTMLElement>('[data-table]');
  if (table === null || table.contains(document.activeElement)) return;
  table.focus();
  table.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
}

const kConnectionTones = { live: 'ok', connecting: 'mute', asking: 'warn', reconnecting: 'stale', offline: 'stale' } as const;

function ConnectionMark(): JSX.Element {
  const state = () => live.connection().state;
  const words = () => {
    const heard = live.connection().heard;
    if (state() === 'live') return 'Live';
    if (state() === 'connecting') return 'Connecting';
    if (state() === 'asking') return 'Not live';
    return heard === null ? 'Not connected' : `Stale for ${shortDuration(Math.max(1, Math.round((tick() - heard) / 1000)))}`;
  };
  return (
    <span class={`connection tone-${kConnectionTones[state()]}`} role="status" title={`Connection to the server: ${words()}`}>
      <span class="dot" aria-hidden="true" /><span class="words">{words()}</span>
    </span>
  );
}

function Banner(): JSX.Element {
  const lost = () => live.connection().state === 'reconnecting' || live.connection().state === 'offline';
  const heard = () => live.connection().heard;
  const status = () => live.system();
  return (
    <>
      <Show when={live.connection().state === 'asking'}>
        <div class="banner tone-warn" role="status">
          <Icon name="info" />
          <span>
            <strong>No live events.</strong> The server answers, but its WebSocket does not come through (a proxy?). This page asks every{' '}
            {duration(kAskEvery / 1000)} instead; what happens between is seen late.
          </span>
          <Button dense icon="refresh" onClick={() => live.retryNow()}>Try now</Button>
        </div>
      </Show>
      <Show when={lost()}>
        <div class="banner tone-stale" role="alert">
          <Icon name="warning" />
          <span>
            <strong>No connection to the server.</strong> What you see is
            {heard() === null ? ' not up to date' : ` as it was ${duration(Math.max(1, Math.round((tick() - (heard() ?? 0)) / 1000)))} ago`}; ages go on growing.
          </span>
          <Button dense icon="refresh" onClick={() => live.retryNow()}>Try now</Button>
        </div>
      </Show>
      <Show when={!lost() && status() && status()?.status !== 'ok'}>
        <div class="banner tone-bad" role="alert">
          <Icon name="warning" />
          <span>
            {status()?.store_failing
              ? 'The server cannot write to its disk: what you see is true now, but may be lost at a restart. Look at the free space and the log.'
              : 'The scheduler of the server does not answer: nothing is polled. Look at the log of the server.'}
          </span>
        </div>
      </Show>
    </>
  );
}

function UserMenu(props: { openHelp: () => void }): JSX.Element {
  const entries = (): MenuEntry[] => [
    { kind: 'title', label: `${me()?.name ?? ''} · ${me()?.grants.map((grant) => (grant.selector ? `${grant.role} (${grant.selector})` : grant.role)).join(', ') ?? ''}` },
    { label: 'Keys', hint: '?', run: props.openHelp },
    { kind: 'line' },
    { kind: 'title', label: 'Appearance' },
    { label: 'As the system', checked: themeChoice() === 'system', keepOpen: true, run: () => setThemeChoice('system') },
    { label: 'Light', checked: themeChoice() === 'light', keepOpen: true, run: () => setThemeChoice('light') },
    { label: 'Dark', checked: themeChoice() === 'dark', keepOpen: true, run: () => setThemeChoice('dark') },
    { kind: 'line' },
    { label: 'Log out', run: () => void logout().catch((error: unknown) => toastProblem(error, 'You are still logged in')) },
  ];
  return <Menu kind="quiet" icon="user" bare label={`Account of ${me()?.name ?? ''}`} align="end" entries={entries} />;
}
