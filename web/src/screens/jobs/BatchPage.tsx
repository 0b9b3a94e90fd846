// A batch as a graph: levels from left to right, the critical path marked, each job reachable by keyboard.
import { createMemo, createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { href, navigate, param, query, setQuery } from '../../app/router';
import { api, path } from '../../api/client';
import { Bar, EmptyState, Loaded, StateMark, Table, Tabs } from '../../design';
import type { Column } from '../../design';
import { count, duration, plural, shortDuration } from '../../logic/format';
import { fetched } from '../../parts/fetched';
import { kNodeHeight, kNodeWidth, layoutGraph, neighbour } from './graph_layout';
import { JobState } from './JobList';
import { ended, kJobStates } from './model';
import type { Job, JobGraph } from './model';
import { kSoonest, watchJobs } from './watch';
import './jobs.css';

const kMostDrawn = 400;
type Node = JobGraph['jobs'][number];

export default function BatchPage(): JSX.Element {
  const graph = fetched(() => param('batch'), (batch, signal) => api.get<JobGraph>(path`api/job-batches/${batch}/graph`, { signal }), { soonest: kSoonest });
  watchJobs(graph.refetch, () => (graph.data()?.jobs ?? []).some((node) => !ended(node.job)));
  const done = () => (graph.data()?.jobs ?? []).filter((node) => ended(node.job)).length;
  const large = () => (graph.data()?.jobs.length ?? 0) > kMostDrawn;
  return (
    <div class="page jobs-batch">
      <nav class="small" aria-label="Where you are"><a href={href('/jobs')}>Jobs</a> / <a href={href('/jobs', {}, { filter: `batch:${param('batch')}` })}>batch …{param('batch').slice(-6)}</a></nav>
      <Loaded data={graph.data()} problem={graph.problem()} retry={graph.refetch} title="This batch could not be shown" lines={8}>
        {(found) => (
          <Show when={found().jobs.length > 0} fallback={<EmptyState icon="jobs" title="This batch has no jobs any more" text="Ended jobs go after some days; the setting jobs_keep_days says when." />}>
            <div class="page-head">
              <h1>{plural(found().jobs.length, 'job')} on {plural(levels(found()), 'level')}</h1>
              <span class="spring" />
              <span class="muted">critical path {duration(found().critical_path.seconds)}</span>
            </div>
            <div class="jobs-batch-head">
              <Bar tone={failures(found()) > 0 ? 'bad' : 'info'} value={done()} max={found().jobs.length} text={`${count(done())} of ${count(found().jobs.length)} ended`} />
              <ul class="row"><For each={statesOf(found())}>{([state, many]) => <li class="row"><StateMark state={state} /><strong>{count(many)}</strong></li>}</For></ul>
            </div>
            <Tabs
              label="Batch"
              now={query('tab') || (large() ? 'list' : 'graph')}
              onChange={(tab) => setQuery({ tab })}
              tabs={[
                { id: 'graph', title: 'Graph', content: () => <Show when={!large()} fallback={<EmptyState icon="tree" title="Too many jobs to draw" text={`A graph of more than ${kMostDrawn} jobs helps nobody; the list shows them by level.`} />}><Graph graph={graph.data() ?? found()} /></Show> },
                { id: 'list', title: 'By level', content: () => <Levels graph={graph.data() ?? found()} /> },
              ]}
            />
          </Show>
        )}
      </Loaded>
    </div>
  );
}

function levels(graph: JobGraph): number {
  return Math.max(0, ...graph.jobs.map((node) => node.level + 1));
}

function failures(graph: JobGraph): number {
  return graph.jobs.filter((node) => node.job.state === 'failed').length;
}

function statesOf(graph: JobGraph): [string, number][] {
  return kJobStates
    .map((state): [string, number] => [state, graph.jobs.filter((node) => node.job.state === state).length])
    .filter(([, many]) => many > 0);
}

function Graph(props: { graph: JobGraph }): JSX.Element {
  // The drawing is made anew only when jobs come or go, not when their states change.
  const shape = createMemo(() => props.graph.jobs.map((node) => ({ id: node.job.id, level: node.level, parents: node.parents })), undefined, {
    equals: (a, b) => JSON.stringify(a) === JSON.stringify(b),
  });
  const layout = createMemo(() => layoutGraph(shape()));
  const byId = createMemo(() => new Map(props.graph.jobs.map((node) => [node.job.id, node])));
  const critical = createMemo(() => new Set(props.graph.critical_path.jobs));
  const [current, setCurrent] = createSignal<string | null>(null);
  let canvas!: HTMLDivElement;
  const onPath = (from: string, to: string) => {
    const order = props.graph.critical_path.jobs;
    const at = order.indexOf(to);
    return at > 0 && order[at - 1] === from;
  };
  const touches = (from: string, to: string) => current() === from || current() === to;
  const keys = (event: KeyboardEvent) => {
    const id = (event.target as HTMLElement).dataset['job'];
    if (id === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = neighbour(layout(), id, event.key);
    if (next === null) return;
    event.preventDefault();
    canvas.querySelector<HTMLElement>(`[data-job="${CSS.escape(next)}"]`)?.focus();
  };
  return (
    <div class="stack">
      <p class="muted small">Jobs on the critical path have a double border: they decide how long the whole takes. Arrow keys follow the lines, Enter opens a job.</p>
      <div class="panel jobs-graph" role="group" aria-label="Graph of the batch" onKeyDown={keys}>
        <div class="jobs-canvas" ref={canvas} style={{ width: `${layout().width}px`, height: `${layout().height}px` }}>
          <svg width={layout().width} height={layout().height} aria-hidden="true">
            <For each={layout().edges}>
              {(edge) => <path d={edge.path} classList={{ critical: onPath(edge.from, edge.to), near: touches(edge.from, edge.to) }} />}
            </For>
          </svg>
          <For each={layout().nodes}>
            {(place) => (
              <Show when={byId().get(place.id)}>
                {(node) => (
                  <a
                    class="jobs-node"
                    classList={{ critical: critical().has(place.id), [`state-${node().job.state}`]: true }}
                    data-job={place.id}
                    href={href('/jobs/:id', { id: place.id })}
                    style={{ transform: `translate(${place.x}px, ${place.y}px)`, width: `${kNodeWidth}px`, height: `${kNodeHeight}px` }}
                    title={node().job.name}
                    onFocus={() => setCurrent(place.id)}
                    onBlur={() => setCurrent(null)}
                    onMouseEnter={() => setCurrent(place.id)}
                    onMouseLeave={() => setCurrent(null)}
                  >
                    <span class="cut name">{node().job.name}</span>
                    <span class="row small"><JobState job={node().job} /><span class="spring" /><span class="muted">{node().job.type}</span></span>
                    <span class="seen-by-readers">{describe(node(), byId(), critical().has(place.id))}</span>
                  </a>
                )}
              </Show>
            )}
          </For>
        </div>
      </div>
    </div>
  );
}

function describe(node: Node, all: ReadonlyMap<string, Node>, critical: boolean): string {
  const names = node.parents.map((id) => all.get(id)?.job.name ?? 'a job of another batch');
  const needs = names.length === 0 ? 'needs nothing' : `needs ${names.join(', ')}`;
  return `${needs}${critical ? ', on the critical path' : ''}`;
}

function Levels(props: { graph: JobGraph }): JSX.Element {
  const byId = createMemo(() => new Map(props.graph.jobs.map((node) => [node.job.id, node.job])));
  const critical = createMemo(() => new Set(props.graph.critical_path.jobs));
  const needs = (job: Job) =>
    job.depends_on.map((group) => group.map((id) => byId().get(id)?.name ?? `…${id.slice(-6)}`).join(' or ')).join(' and ');
  const columns: readonly Column<Node>[] = [
    { id: 'level', title: 'Level', width: '70px', end: true, cell: (node) => node.level, value: (node) => node.level },
    { id: 'name', title: 'Job', width: 'minmax(160px, 2fr)', cell: (node) => <a href={href('/jobs/:id', { id: node.job.id })}>{node.job.name}</a>, value: (node) => node.job.name, fixed: true },
    { id: 'path', title: 'Critical', width: '80px', help: 'On the critical path', cell: (node) => (critical().has(node.job.id) ? 'yes' : ''), value: (node) => Number(!critical().has(node.job.id)) },
    { id: 'state', title: 'State', width: '120px', cell: (node) => <JobState job={node.job} />, value: (node) => kJobStates.indexOf(node.job.state) },
    { id: 'type', title: 'Type', width: '110px', cell: (node) => node.job.type, value: (node) => node.job.type },
    { id: 'needs', title: 'Needs', width: 'minmax(160px, 2fr)', cell: (node) => <span title={needs(node.job)}>{needs(node.job)}</span> },
    { id: 'failure', title: 'Failure', width: 'minmax(120px, 1fr)', cell: (node) => <span title={node.job.failure}>{node.job.failure ?? ''}</span> },
    { id: 'took', title: 'Took', width: '84px', end: true, cell: (node) => shortDuration(node.job.waited), value: (node) => node.job.waited },
  ];
  return (
    <Table
      id="batch"
      label="Jobs of the batch by level"
      noun="job"
      columns={columns}
      rows={props.graph.jobs}
      rowKey={(node) => node.job.id}
      sort={{ column: 'level', descending: false }}
      onOpen={(node) => navigate(href('/jobs/:id', { id: node.job.id }))}
      grow={24}
    />
  );
}
