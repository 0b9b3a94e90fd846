import { lazy, Match, onMount, Suspense, Switch } from 'solid-js';
import type { JSX } from 'solid-js';
import { Problem } from '../api/problem';
import { ErrorState, Skeleton } from '../design/States';
import { loadSession, session } from '../state/session';
import { Shell } from './Shell';

const Welcome = lazy(() => import('../screens/login/Welcome'));

export function App(): JSX.Element {
  onMount(() => void loadSession());
  const unreachable = () => {
    const now = session();
    return now.kind === 'unreachable' ? new Problem({ status: 0, code: 'page.offline', detail: now.detail }) : null;
  };
  return (
    <Switch>
      <Match when={session().kind === 'loading'}><Skeleton lines={8} /></Match>
      <Match when={unreachable()}>{(problem) => <ErrorState problem={problem()} retry={() => void loadSession()} />}</Match>
      <Match when={session().kind === 'out'}><Suspense fallback={<Skeleton lines={4} />}><Welcome /></Suspense></Match>
      <Match when={session().kind === 'in'}><Shell /></Match>
    </Switch>
  );
}
