// Where a user is logged in, and how to end it.
import { For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, path } from '../../api/client';
import { Badge, Button, Loaded, Time } from '../../design';
import { plural } from '../../logic/format';
import { polled } from '../../state/polled';
import { askAndDo } from './acts';
import { agentWords } from './agent';
import type { UserSession } from './shapes';

export function Sessions(props: { user: string }): JSX.Element {
  const sessions = polled((signal) => api.get<{ items: UserSession[] }>(path`api/users/${props.user}/sessions`, { signal }), { key: () => props.user, every: 30_000 });
  const end = (session: UserSession | null) =>
    askAndDo(
      {
        title: session ? 'End this session?' : `End all other sessions of ${props.user}?`,
        text: session ? `${agentWords(session.agent)} at ${session.address} has to log in again.` : 'Whoever is logged in there has to log in again. The one that asks stays.',
        action: 'End',
        danger: true,
      },
      () => api.delete<{ ended: number }>(path`api/users/${props.user}/sessions`, session ? { query: { id: session.id } } : {}),
      { done: ({ ended }) => `${plural(ended, 'session')} ended.`, failed: 'The session could not be ended' },
      sessions.refresh,
    );
  return (
    <Loaded data={sessions.data()} problem={sessions.problem()} retry={sessions.refresh} title="The sessions could not be loaded" lines={3}>
      {(data) => (
        <div class="stack">
          <ul class="settings-list">
            <For each={data().items} fallback={<li class="muted">Not logged in anywhere.</li>}>
              {(one) => (
                <li class="settings-session">
                  <span><strong title={one.agent}>{agentWords(one.agent)}</strong> <span class="muted">at {one.address}</span><Show when={one.current}> <Badge tone="ok">this one</Badge></Show></span>
                  <span class="muted small">seen <Time at={one.last_seen} relative />, ends <Time at={one.ends} relative /></span>
                  <Button dense disabledReason={one.current ? 'This is the session you use: log out instead.' : undefined} onClick={() => void end(one)}>End</Button>
                </li>
              )}
            </For>
          </ul>
          <Show when={data().items.filter((one) => !one.current).length > 1}><div><Button dense kind="danger" onClick={() => void end(null)}>End all others</Button></div></Show>
        </div>
      )}
    </Loaded>
  );
}
