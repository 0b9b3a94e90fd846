// What polling a device costs: all of its targets together, and each.
import { For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { href } from '../../app/router';
import { api } from '../../api/client';
import { Loaded } from '../../design';
import { bytes, count, duration, percent } from '../../logic/format';
import type { Costs } from '../../parts/costs';
import { CostTiles } from '../../parts/CostTiles';
import { fetched } from '../../parts/fetched';
import '../../design/plain_table.css';

const kMost = 1000;

export function Cost(props: { device: string }): JSX.Element {
  const costs = fetched(() => props.device, (device, signal) => api.get<Costs>('api/scheduler/costs', { query: { device, limit: kMost }, signal }), { every: 30 });
  return (
    <section class="panel" aria-label="What it costs">
      <div class="panel-head"><h2>What it costs</h2></div>
      <Loaded data={costs.data()} problem={costs.problem()} retry={costs.refetch} title="The costs could not be loaded" lines={2}>
        {(now) => (
          <>
            <dl class="tiles panel-body"><CostTiles costs={now()} /></dl>
            <Show when={now().items.length > 1}>
              <div class="device-costs"><CostTable costs={now()} /></div>
            </Show>
          </>
        )}
      </Loaded>
    </section>
  );
}

function CostTable(props: { costs: Costs }): JSX.Element {
  return (
    <table class="plain-table">
      <thead><tr><th scope="col">Target</th><th scope="col">Share of all polls</th><th scope="col">Time</th><th scope="col">Runs</th><th scope="col">Mean</th><th scope="col">Traffic</th></tr></thead>
      <tbody>
        <For each={props.costs.items}>
          {(row) => (
            <tr>
              <th scope="row"><a href={href('/targets/:key', { key: row.key }, { tab: 'runs' })}>{row.key}</a></th>
              <td>{percent(row.share, 2)}</td>
              <td>{duration(row.busy)}</td>
              <td>{count(row.runs)}{row.failures > 0 ? `, ${count(row.failures)} failed` : ''}</td>
              <td>{duration(row.mean)}</td>
              <td>{bytes(row.bytes)}</td>
            </tr>
          )}
        </For>
      </tbody>
    </table>
  );
}
