// What jobs share: named resources with who holds them, and the types with their limits.
import { For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { href } from '../../app/router';
import { api } from '../../api/client';
import { Badge, Bar, EmptyState, Loaded, Time } from '../../design';
import '../../design/plain_table.css';
import { bytes, count, duration, plural } from '../../logic/format';
import { fetched } from '../../parts/fetched';
import { jobOfKey, plainHelp } from './model';
import type { JobType, Resource } from './model';
import { kSoonest, watchJobs } from './watch';

const kEvery = 5;

/** Amounts of memory and disk are bytes by their names; everything else is a number. */
export function amount(name: string, value: number): string {
  return /mem|ram|disk-space|bytes|storage/i.test(name) && value >= 1024 ? bytes(value) : count(value, 2);
}

export default function Resources(): JSX.Element {
  const resources = fetched(() => 'resources', (_, signal) => api.get<{ items: Resource[] }>('api/resources', { signal }), { every: kEvery, soonest: kSoonest });
  const types = fetched(() => 'types', (_, signal) => api.get<{ items: JobType[] }>('api/job-types', { signal }));
  watchJobs(resources.refetch, () => (resources.data()?.items ?? []).some((one) => one.used > 0 || one.waiting > 0));
  return (
    <div class="stack">
      <section class="panel" aria-labelledby="jobs-resources">
        <div class="panel-head"><h2 id="jobs-resources">Resources</h2><span class="muted small">held by jobs while they run; declared in the section <code>resources</code> of the fleet</span></div>
        <Loaded data={resources.data()} problem={resources.problem()} retry={resources.refetch} lines={3}>
          {(found) => (
            <Show when={found().items.length > 0} fallback={<EmptyState icon="jobs" title="No resources are declared" text="Say in a fleet file how much there is, such as resources: {cpu: 8, memory: 16GiB}. Jobs can then ask for a part of it." />}>
              <ul class="jobs-resources">
                <For each={found().items}>{(one) => <ResourceRow resource={one} />}</For>
              </ul>
            </Show>
          )}
        </Loaded>
      </section>
      <section class="panel" aria-labelledby="jobs-types">
        <div class="panel-head"><h2 id="jobs-types">Types of jobs</h2></div>
        <Loaded data={types.data()} problem={types.problem()} retry={types.refetch} lines={4}>
          {(found) => <div class="jobs-types-scroll" tabindex={0} role="region" aria-label="Types of jobs"><TypeTable types={found().items} /></div>}
        </Loaded>
      </section>
    </div>
  );
}

function ResourceRow(props: { resource: Resource }): JSX.Element {
  const one = () => props.resource;
  return (
    <li class="panel-part">
      <div class="row">
        <strong>{one().name}</strong>
        <span class="spring" />
        <Show when={one().waiting > 0}><Badge tone="warn">{plural(one().waiting, 'job waits', 'jobs wait')} for {amount(one().name, one().wanted)}</Badge></Show>
        <span class="muted">{amount(one().name, one().used)} of {amount(one().name, one().capacity)} in use</span>
      </div>
      <Bar value={one().used} max={one().capacity} tone={one().used >= one().capacity ? 'warn' : 'info'} text={one().capacity > 0 ? `${count((100 * one().used) / one().capacity)} %` : 'none'} title={`${one().name} in use`} />
      <Show when={one().holders.length > 0}>
        <ul class="jobs-holders small">
          <For each={one().holders}>
            {(holder) => (
              <li>
                <Show when={jobOfKey(holder.key)} fallback={<span>{holder.key}</span>}>{(id) => <a href={href('/jobs/:id', { id: id() })}>{holder.key.split('::')[0]?.replace(/^job-/, '')} job …{id().slice(-6)}</a>}</Show>
                <span class="muted"> holds {amount(one().name, holder.amount)}, since <Time at={holder.since} relative /></span>
              </li>
            )}
          </For>
          <Show when={one().holder_count > one().holders.length}><li class="muted">and {count(one().holder_count - one().holders.length)} more</li></Show>
        </ul>
      </Show>
    </li>
  );
}

function TypeTable(props: { types: readonly JobType[] }): JSX.Element {
  return (
    <table class="jobs-types plain-table">
      <thead><tr><th scope="col">Type</th><th scope="col">Does</th><th scope="col" class="number">Share</th><th scope="col" class="number">At once</th><th scope="col">Tier</th><th scope="col" class="number">Time</th></tr></thead>
      <tbody>
        <For each={props.types}>
          {(type) => (
            <tr>
              <th scope="row"><a href={href('/jobs/new', {}, { type: type.name })}>{type.name}</a></th>
              <td>{plainHelp(type.help)}</td>
              <td class="number">{type.weight}</td>
              <td class="number">{count(type.slots)}{type.rate > 0 ? `, ${count(type.rate)}/s` : ''}</td>
              <td>{type.priority}</td>
              <td class="number">{duration(type.timeout)}</td>
            </tr>
          )}
        </For>
      </tbody>
    </table>
  );
}
