// What needs attention now and why, how everything is, what changed, and how fresh it is.
import { For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api } from '../../api/client';
import { kTargetStates } from '../../api/model';
import type { Overview as OverviewData } from '../../api/model';
import { href } from '../../app/router';
import { ErrorState, Loaded, Skeleton, StateMark, toneOf } from '../../design';
import { count, percent, plural } from '../../logic/format';
import { fetched } from '../../parts/fetched';
import { fleet } from '../../state/fleet';
import { Guide } from '../../parts/Guide';
import { AttentionList } from './Attention';
import { EventList } from './EventList';
import { Freshness } from './Freshness';
import { HeatMap } from './HeatMap';
import './overview.css';

const kEvents = ['incident_changed', 'task_state_changed'] as const;

export default function Overview(): JSX.Element {
  const overview = fetched(() => 'overview', (_, signal) => api.get<OverviewData>('api/overview', { signal }), { events: kEvents, every: 10, settle: 1000 });
  const now = () => overview.data();
  const failed = () => (now() === undefined ? overview.problem() : null) ?? (fleet.loaded() ? null : fleet.problem());
  return (
    <Show when={!failed()} fallback={<Show when={failed()}>{(problem) => <ErrorState problem={problem()} retry={() => (overview.refetch(), void fleet.refresh())} />}</Show>}>
      <Show when={now() && fleet.loaded()} fallback={<Skeleton lines={10} />}>
        <Show when={fleet.targets().length > 0} fallback={<Guide />}>
          <Loaded data={now()} problem={overview.problem() ?? fleet.problem()} retry={() => (overview.refetch(), void fleet.refresh())}>
            {() => (
              <div class="page">
                <div class="page-head">
                  <h1>Overview</h1>
                  <p class="muted">{sentence(now() as OverviewData)}</p>
                </div>
                <StateTiles />
                <div class="overview-columns">
                  <div class="overview-main">
                    <section class="panel" aria-labelledby="attention">
                      <header class="panel-head">
                        <h2 id="attention">Needs attention</h2>
                        <span class="muted small">{alertWords(now() as OverviewData)}</span>
                      </header>
                      <AttentionList items={now()?.attention ?? []} />
                    </section>
                    <section class="panel" aria-labelledby="heat">
                      <header class="panel-head"><h2 id="heat">The whole fleet</h2><span class="muted small">{plural(fleet.targets().length, 'target')}</span></header>
                      <div class="panel-body"><HeatMap /></div>
                    </section>
                  </div>
                  <div class="overview-aside">
                    <Freshness />
                    <EventList />
                  </div>
                </div>
              </div>
            )}
          </Loaded>
        </Show>
      </Show>
    </Show>
  );
}

function sentence(now: OverviewData): string {
  const parts = [`${count(now.rates.polls_per_second, 1)} polls per second`];
  if (now.rates.success_ratio !== null) parts.push(`${percent(now.rates.success_ratio)} of them good`);
  if (now.jobs.running > 0) parts.push(`${plural(now.jobs.running, 'job')} running`);
  if (now.jobs.failed_24h > 0) parts.push(`${plural(now.jobs.failed_24h, 'job')} failed in 24 h`);
  return parts.join(', ');
}

function alertWords(now: OverviewData): string {
  const parts = [plural(now.incidents.open, 'open incident')];
  if (now.incidents.acknowledged > 0) parts.push(`${count(now.incidents.acknowledged)} acknowledged`);
  parts.push(plural(now.alerts.open, 'open alert'));
  if (now.alerts.suppressed > 0) parts.push(`${count(now.alerts.suppressed)} suppressed`);
  if (now.alerts.silenced > 0) parts.push(`${count(now.alerts.silenced)} silenced`);
  return parts.join(' · ');
}

function StateTiles(): JSX.Element {
  const all = () => Math.max(1, fleet.targets().length);
  const order = [...kTargetStates].filter((state) => state !== 'up');
  return (
    <section class="overview-states" aria-label="Targets by state">
      <div class="overview-share" aria-hidden="true">
        <For each={kTargetStates}>
          {(state) => <span class={`tone-${toneOf(state)}`} classList={{ calm: state === 'up' }} style={{ 'flex-grow': String(fleet.counts()[state] / all()) }} hidden={fleet.counts()[state] === 0} />}
        </For>
      </div>
      <ul>
        <For each={['up' as const, ...order]}>
          {(state) => (
            <li>
              <a href={href('/fleet', {}, { filter: `state:${state}` })} class={`tone-${toneOf(state)}`} classList={{ none: fleet.counts()[state] === 0 }}>
                <span class="overview-count">{count(fleet.counts()[state])}</span>
                <StateMark state={state} />
              </a>
            </li>
          )}
        </For>
      </ul>
    </section>
  );
}
