import { createSignal, For, onCleanup, onMount, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, asProblem } from '../../api/client';
import type { Problem } from '../../api/client';
import { live } from '../../api/live';
import type { LiveEvent } from '../../api/live';
import { href } from '../../app/router';
import { Button, StateMark, Time } from '../../design';
import { addNews } from './news';
import type { News } from './news';

const kTypes = ['task_state_changed', 'incident_changed'] as const;
// Events are numbered over all types, so how far back to look is a guess: near first, then far.
const kLookBack = [2_000, 18_000];
const kEnough = 12;
const kFirst = 10;

export function EventList(): JSX.Element {
  const [news, setNews] = createSignal<readonly News[]>([]);
  const [all, setAll] = createSignal(false);
  const [loaded, setLoaded] = createSignal(false);
  const [problem, setProblem] = createSignal<Problem | null>(null);
  const load = async () => {
    try {
      const { newest } = await api.get<{ newest: number }>('api/events', { query: { limit: 1, type: ['system_status'] } });
      for (const back of kLookBack) {
        const answer = await api.get<{ events: LiveEvent[] }>('api/events', { query: { after: Math.max(0, newest - back), limit: 1000, type: kTypes } });
        setNews((before) => addNews(before, answer.events));
        if (news().length >= kEnough) break;
      }
      setProblem(null);
    } catch (error) {
      setProblem(asProblem(error));
    }
    setLoaded(true);
  };
  onMount(() => void load());
  onCleanup(live.on(kTypes, (events) => setNews((before) => addNews(before, events))));
  onCleanup(live.onResync(() => void load()));
  return (
    <section class="panel overview-news" aria-labelledby="news">
      <header class="panel-head"><h2 id="news">What happened</h2></header>
      <Show when={problem()}>
        {(one) => <p class="panel-body muted row" role="status"><span>What happened before is not known: {one().message}</span><Button dense kind="quiet" icon="refresh" onClick={() => void load()}>Try again</Button></p>}
      </Show>
      <Show when={news().length > 0} fallback={<Show when={problem() === null}><p class="panel-body muted">{loaded() ? 'Nothing has changed lately.' : 'Loading'}</p></Show>}>
        <ol>
          <For each={all() ? news() : news().slice(0, kFirst)}>
            {(one) => (
              <li>
                <StateMark state={one.state} short />
                <span class="overview-line">
                  <span class="overview-verb">{one.verb}:</span>{' '}
                  <a href={one.link.kind === 'target' ? href('/targets/:key', { key: one.link.key }) : href('/incidents/:id', { id: one.link.key })}>{one.subject}</a>{' '}
                  <span class="muted">{one.text}</span>
                </span>
                <span class="muted small overview-when"><Time at={one.at} relative /></span>
              </li>
            )}
          </For>
        </ol>
        <Show when={news().length > kFirst}>
          <div class="overview-more"><Button dense kind="quiet" onClick={() => setAll(!all())}>{all() ? 'Show less' : `Show ${news().length - kFirst} more`}</Button></div>
        </Show>
      </Show>
    </section>
  );
}
