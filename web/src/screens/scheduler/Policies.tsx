// What polling costs: the budget and its use, what each policy would do now, and who takes the time.
import { createMemo, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api } from '../../api/client';
import { href } from '../../app/router';
import { Badge, Bar, Loaded, Table, Time } from '../../design';
import type { Column } from '../../design';
import { bytes, compact, count, duration, percent } from '../../logic/format';
import type { Costs } from '../../parts/costs';
import { polled } from '../../state/polled';
import { KeyLink } from './Plan';
import type { Policies, PolicyLine } from './shapes';

const kWhat: Record<string, string> = {
  fixed: 'every target at its base interval',
  classic: 'the published formula: staleness, errors, load',
  optimal: 'learns how often answers change and spends polls where they buy the most',
  aimd: 'shorter after a change, longer after none',
};

export function PoliciesTab(): JSX.Element {
  const policies = polled((signal) => api.get<Policies>('api/scheduler/policies', { signal }), { every: 10_000 });
  const costs = polled((signal) => api.get<Costs>('api/scheduler/costs', { query: { limit: 50 }, signal }), { every: 10_000 });
  return (
    <div class="stack">
      <Loaded data={policies.data()} problem={policies.problem()} retry={policies.refresh} title="The comparison of policies could not be loaded" lines={8}>
        {(data) => (<><Budget policies={data()} /><Comparison policies={data()} /><Classes policies={data()} /></>)}
      </Loaded>
      <Loaded data={costs.data()} problem={costs.problem()} retry={costs.refresh} title="The costs could not be loaded" lines={8}>
        {(data) => <CostTable costs={data()} />}
      </Loaded>
    </div>
  );
}

function Budget(props: { policies: Policies }): JSX.Element {
  const budget = () => props.policies.budget;
  const share = () => (budget().polls_per_second > 0 ? budget().used / budget().polls_per_second : 0);
  return (
    <section class="panel">
      <div class="panel-head">
        <h2>Budget</h2>
        <Badge tone={props.policies.adaptive ? 'ok' : 'mute'}>{props.policies.adaptive ? 'adaptive polling is on' : 'adaptive polling is off'}</Badge>
        <span class="spring" />
        <a href={href('/settings', {}, { tab: 'monitoring' })}>Change it in the settings</a>
      </div>
      <div class="panel-body stack">
        <Bar value={budget().used} max={Math.max(budget().polls_per_second, 1e-9)} tone={share() > 1.001 ? 'warn' : 'info'} text={`${compact(budget().used)} of ${compact(budget().polls_per_second)} polls/s, ${percent(share())}`} title="Polls per second in use, of what the targets may spend" />
        <p class="muted small">
          The budget is what all targets would cost at their base intervals. It is a ceiling, not a quota: what quiet targets do not need is not spent.
        </p>
      </div>
    </section>
  );
}

const kLines: readonly { title: string; help: string; read: (line: PolicyLine) => number; show: (value: number) => string }[] = [
  { title: 'Polls per second', help: 'load on the network and the devices', read: (line) => line.polls_per_second, show: (value) => `${compact(value)}/s` },
  { title: 'Mean interval', help: 'over all targets', read: (line) => line.mean_interval, show: duration },
  { title: 'Longest interval', help: 'nobody waits longer', read: (line) => line.longest_interval, show: duration },
  { title: 'Mean age of the data', help: 'half of the interval, over all targets', read: (line) => line.mean_age, show: duration },
];

/** "+12 %", "−40 %", "same" against what is in force. */
function against(value: number, base: number | undefined): string {
  if (base === undefined || base <= 0) return '';
  const change = value / base - 1;
  if (Math.abs(change) < 0.005) return 'same';
  return `${change > 0 ? '+' : '−'}${percent(Math.abs(change), 0)}`;
}

function Comparison(props: { policies: Policies }): JSX.Element {
  const inForce = createMemo(() => props.policies.items.find((line) => line.policy === props.policies.in_force));
  return (
    <section class="panel scheduler-scroll">
      <div class="panel-head"><h2>What each policy would do now</h2><span class="muted small">reckoned with what has been learned until now; nothing is changed by looking</span></div>
      <table class="scheduler-compare">
        <thead>
          <tr>
            <th scope="col"><span class="seen-by-readers">Measure</span></th>
            <For each={props.policies.items}>
              {(line) => (
                <th scope="col" classList={{ chosen: line.policy === props.policies.in_force }}>
                  {line.policy} <Show when={line.policy === props.policies.in_force}><Badge tone="ok">in force</Badge></Show>
                  <div class="muted small">{kWhat[line.policy]}</div>
                </th>
              )}
            </For>
          </tr>
        </thead>
        <tbody>
          <For each={kLines}>
            {(row) => (
              <tr>
                <th scope="row">{row.title}<div class="muted small">{row.help}</div></th>
                <For each={props.policies.items}>
                  {(line) => (
                    <td classList={{ chosen: line.policy === props.policies.in_force }}>
                      <strong>{row.show(row.read(line))}</strong>
                      <Show when={line.policy !== props.policies.in_force}>
                        <div class="muted small">{against(row.read(line), inForce() ? row.read(inForce() as PolicyLine) : undefined)}</div>
                      </Show>
                    </td>
                  )}
                </For>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </section>
  );
}

interface ClassRow {
  class: string;
  tasks: number;
  by: Record<string, { rate: number; interval: number }>;
}

const sameNames = (a: { all: string[]; inForce: string }, b: { all: string[]; inForce: string }) => a.inForce === b.inForce && a.all.join(' ') === b.all.join(' ');

function Classes(props: { policies: Policies }): JSX.Element {
  const rows = createMemo<ClassRow[]>(() => {
    const found = new Map<string, ClassRow>();
    for (const line of props.policies.items) {
      for (const one of line.classes) {
        const row = found.get(one.class) ?? { class: one.class, tasks: one.tasks, by: {} };
        row.by[line.policy] = { rate: one.polls_per_second, interval: one.mean_interval };
        found.set(one.class, row);
      }
    }
    return [...found.values()];
  });
  // Only when these change: other columns draw the whole table anew.
  const names = createMemo(() => ({ all: props.policies.items.map((line) => line.policy), inForce: props.policies.in_force }), undefined, { equals: sameNames });
  const columns = createMemo<Column<ClassRow>[]>(() => [
    { id: 'class', title: 'Class', width: 'minmax(140px, 2fr)', fixed: true, cell: (row) => row.class, value: (row) => row.class },
    { id: 'tasks', title: 'Tasks', width: '80px', end: true, cell: (row) => count(row.tasks), value: (row) => row.tasks },
    ...names().all.map<Column<ClassRow>>((policy) => ({
      id: policy,
      title: policy === names().inForce ? `${policy} (in force)` : policy,
      help: `${policy}: polls per second, mean interval`,
      width: 'minmax(150px, 1fr)',
      end: true,
      cell: (row) => <>{compact(row.by[policy]?.rate)}/s, {duration(row.by[policy]?.interval)}</>,
      value: (row) => row.by[policy]?.rate ?? null,
    })),
  ]);
  return (
    <section class="stack" aria-label="Policies by class">
      <h2>By class</h2>
      <Table id="scheduler-classes" label="Policies by class" noun="class" grow={12} columns={columns()} rows={rows()} rowKey={(row) => row.class} />
    </section>
  );
}

type Cost = Costs['items'][number];

const kCosts: Column<Cost>[] = [
  { id: 'key', title: 'Task', width: 'minmax(200px, 3fr)', fixed: true, cell: (row) => <KeyLink task={row.key} />, value: (row) => row.key },
  { id: 'share', title: 'Share of the time', width: 'minmax(120px, 1.4fr)', cell: (row) => <Bar value={row.share} max={1} tone={row.share > 0.2 ? 'warn' : 'info'} text={percent(row.share)} />, value: (row) => row.share },
  { id: 'busy', title: 'Busy', width: '90px', end: true, cell: (row) => duration(row.busy), value: (row) => row.busy },
  { id: 'mean', title: 'Mean', width: '90px', end: true, cell: (row) => duration(row.mean), value: (row) => row.mean },
  { id: 'runs', title: 'Runs', width: '80px', end: true, cell: (row) => count(row.runs), value: (row) => row.runs },
  { id: 'failures', title: 'Failed', width: '80px', end: true, cell: (row) => count(row.failures), value: (row) => row.failures },
  { id: 'requests', title: 'Requests', width: '90px', end: true, cell: (row) => count(row.requests), value: (row) => row.requests },
  { id: 'bytes', title: 'Traffic', width: '90px', end: true, cell: (row) => bytes(row.bytes), value: (row) => row.bytes },
];

function CostTable(props: { costs: Costs }): JSX.Element {
  return (
    <section class="stack" aria-label="Who takes the time">
      <div class="row">
        <h2>Who takes the time</h2>
        <span class="muted small">{duration(props.costs.total_busy)} under way in all<Show when={props.costs.since}>{(since) => <>, since <Time at={since()} /></>}</Show></span>
      </div>
      <Table
        id="scheduler-costs"
        label="Who takes the time"
        noun="task"
        grow={15}
        sort={{ column: 'busy', descending: true }}
        columns={kCosts}
        rows={props.costs.items}
        rowKey={(row) => row.key}
        card={(row) => (
          <div class="scheduler-card">
            <KeyLink task={row.key} />
            <span class="muted small">{percent(row.share)}: {duration(row.busy)} in {count(row.runs)} runs, mean {duration(row.mean)}, {count(row.failures)} failed</span>
          </div>
        )}
        empty={<p class="muted panel-body">Nothing has run yet.</p>}
      />
    </section>
  );
}
