// One job: where it stands and why, its attempts with output and log, what depends on it.
import { createEffect, createMemo, For, lazy, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { href, param, query, setQuery } from '../../app/router';
import { useKeys } from '../../app/keys';
import { api, path } from '../../api/client';
import type { Problem } from '../../api/client';
import { Badge, Bar, Button, EmptyState, ErrorState, Icon, Loaded, Skeleton, StateMark, Tabs, Time } from '../../design';
import { parseTime, tick } from '../../logic/clock';
import { count, duration, plural } from '../../logic/format';
import { fetched } from '../../parts/fetched';
import { fleet } from '../../state/fleet';
import { whyNot } from '../../state/session';
import { cancelJob, steerJob } from './acts';
import { JobState } from './JobList';
import { actsFor, ended, plainVerdict, verdictParts } from './model';
import type { Job, JobRun } from './model';
import { amount } from './Resources';
import { kSoonest, watchJobs } from './watch';
import './jobs.css';

const Proposal = lazy(() => import('../../parts/Proposal'));
const TopologyProposal = lazy(() => import('../../parts/TopologyProposal'));
const kMostNames = 50;

export default function JobPage(): JSX.Element {
  const id = () => param('id');
  const job = fetched(id, (one, signal) => api.get<Job>(path`api/jobs/${one}`, { signal }), { soonest: kSoonest });
  const runs = fetched(id, (one, signal) => api.get<{ items: JobRun[]; live_log: string[] }>(path`api/jobs/${one}/runs`, { signal }), { soonest: kSoonest });
  const impact = fetched(id, (one, signal) => api.get<{ impact: string[] }>(path`api/jobs/${one}/impact`, { signal }), { soonest: kSoonest });
  const again = () => {
    job.refetch();
    runs.refetch();
  };
  watchJobs((ids) => (ids === null || ids.has(id()) || waitsFor(job.data(), ids)) && again(), () => {
    const now = job.data();
    return now !== undefined && !ended(now);
  });
  // Names of the jobs around it: parents and what waits for it.
  const around = createMemo(() => [...new Set([...(job.data()?.depends_on.flat() ?? []), ...(impact.data()?.impact ?? [])])].slice(0, kMostNames).join(' '));
  const named = fetched(() => (around() === '' ? null : around()), (ids, signal) => namesOf(ids.split(' '), signal));
  let before: string | undefined;
  createEffect(() => {
    const state = job.data()?.state;
    if (before !== undefined && before !== state) (impact.refetch(), named.refetch());
    before = state;
  });
  const steer = async (verb: 'retry' | 'hold' | 'release') => {
    const now = job.data();
    if (now && (await steerJob(now, verb)) !== null) again();
  };
  const cancel = async () => {
    const now = job.data();
    if (now && (await cancelJob(now))) again();
  };
  useKeys('Job', { r: ['Look again', again] });
  return (
    <div class="page jobs-one">
      <nav class="small" aria-label="Where you are"><a href={href('/jobs')}>Jobs</a></nav>
      <Loaded data={job.data()} problem={job.problem()} retry={job.refetch} title="This job could not be shown" lines={8}>
        {(now) => (
          <>
            <div class="page-head">
              <h1>{now().name}</h1>
              <JobState job={now()} />
              <Badge>{now().type}</Badge>
              <span class="spring" />
              <Show when={actsFor(now()).retry}><Button icon="refresh" kind="primary" disabledReason={whyNot('operate')} onClick={() => void steer('retry')}>Try again</Button></Show>
              <Show when={actsFor(now()).release}><Button icon="play" kind="primary" disabledReason={whyNot('operate')} onClick={() => void steer('release')}>Release</Button></Show>
              <Show when={actsFor(now()).hold}><Button icon="pause" disabledReason={whyNot('operate')} onClick={() => void steer('hold')}>Hold</Button></Show>
              <Show when={actsFor(now()).cancel}><Button icon="close" kind="danger" disabledReason={whyNot('operate')} onClick={() => void cancel()}>Cancel…</Button></Show>
              <a class="button" href={href('/jobs/batches/:batch', { batch: now().batch })}><Icon name="tree" />Graph of its batch</a>
            </div>
            <Standing job={now()} names={named.data() ?? {}} />
            <Tabs
              label="Job"
              now={query('tab')}
              onChange={(tab) => setQuery({ tab })}
              tabs={[
                ...(now().type === 'discovery' ? [{ id: 'proposal', title: 'Proposal', content: () => <Proposal job={job.data() ?? now()} /> }] : []),
                ...(now().type === 'topology' ? [{ id: 'proposal', title: 'Proposal', content: () => <TopologyProposal job={job.data() ?? now()} /> }] : []),
                { id: 'runs', title: 'Attempts', count: now().attempts, content: () => <Runs job={job.data() ?? now()} runs={runs.data()?.items ?? []} log={runs.data()?.live_log ?? []} loading={runs.data() === undefined && runs.problem() === null} problem={runs.problem()} retry={runs.refetch} /> },
                { id: 'around', title: 'Around it', count: now().depends_on.length + (impact.data()?.impact.length ?? 0), content: () => <Around job={job.data() ?? now()} impact={impact.data()?.impact ?? []} names={named.data() ?? {}} /> },
                { id: 'what', title: 'As submitted', content: () => <Submitted job={job.data() ?? now()} /> },
              ]}
            />
          </>
        )}
      </Loaded>
    </div>
  );
}

function waitsFor(job: Job | undefined, ids: ReadonlySet<string>): boolean {
  return job?.depends_on.flat().some((id) => ids.has(id)) ?? false;
}

type Names = Record<string, Pick<Job, 'name' | 'state' | 'held'> | undefined>;

async function namesOf(ids: readonly string[], signal: AbortSignal): Promise<Names> {
  const names: Names = {};
  await Promise.all(
    ids.map(async (id) => {
      // One that was removed since then, or may not be seen, keeps its id.
      names[id] = await api.get<Job>(path`api/jobs/${id}`, { signal }).catch(() => undefined);
    }),
  );
  return names;
}

function JobLink(props: { id: string; names: Names }): JSX.Element {
  const known = () => props.names[props.id];
  return (
    <span class="jobs-link">
      <Show when={known()}>{(one) => <StateMark state={one().state} short />}</Show>
      <a href={href('/jobs/:id', { id: props.id })}>{known()?.name ?? `job …${props.id.slice(-6)}`}</a>
    </span>
  );
}

function Standing(props: { job: Job; names: Names }): JSX.Element {
  const job = () => props.job;
  const running = () => job().state === 'running';
  const waits = () => !ended(job()) && !running();
  const since = () => {
    const from = parseTime(job().created_at);
    return from === null ? job().waited : Math.max(0, Math.round((tick() - from) / 1000));
  };
  return (
    <section class="panel panel-body jobs-standing" aria-label="Where it stands">
      <Show when={job().failure}>
        {(failure) => <div class="jobs-why tone-bad"><Icon name="warning" /><span><strong>It failed:</strong> {failure()}</span></div>}
      </Show>
      <Show when={waits() && plainVerdict(job()) !== ''}>
        <div class="jobs-why tone-info">
          <Icon name="clock" />
          <span>
            <strong>Why it waits:</strong>{' '}
            <For each={verdictParts(plainVerdict(job()))}>{(part) => ('job' in part ? <JobLink id={part.job} names={props.names} /> : <>{part.text}</>)}</For>
          </span>
        </div>
      </Show>
      <Show when={running() && job().progress && (job().progress?.total ?? 0) > 0 ? job().progress : undefined}>
        {(progress) => <Bar tone="info" value={progress().done} max={progress().total} text={`${count(progress().done)} of ${count(progress().total)}${progress().text ? `, ${progress().text}` : ''}`} title="Progress" />}
      </Show>
      <dl class="jobs-numbers">
        <Show when={job().position}>{(position) => <div><dt>Place in line</dt><dd>{count(position())}</dd></div>}</Show>
        <Show when={job().estimate !== undefined}><div><dt>Starts in about</dt><dd>{duration(job().estimate)}</dd></div></Show>
        <div><dt>{ended(job()) ? 'Took' : 'So far'}</dt><dd class="ages">{duration(ended(job()) ? job().waited : since())}</dd></div>
        <div><dt>Attempts</dt><dd>{job().attempts} of {job().retry.attempts}</dd></div>
        <div><dt>Priority</dt><dd>{job().priority}</dd></div>
        <div><dt>Submitted</dt><dd><Time at={job().created_at} />{job().created_by ? ` by ${(job().created_by ?? '').replace(/^(user|token):/, '')}` : ''}</dd></div>
        <Show when={job().ended_at}>{(at) => <div><dt>Ended</dt><dd><Time at={at()} /></dd></div>}</Show>
      </dl>
    </section>
  );
}

function Runs(props: { job: Job; runs: readonly JobRun[]; log: readonly string[]; loading: boolean; problem: Problem | null; retry: () => void }): JSX.Element {
  const newestFirst = () => [...props.runs].reverse();
  return (
    <div class="stack jobs-runs">
      <Show when={props.problem}>{(problem) => <ErrorState problem={problem()} retry={props.retry} title="Its attempts could not be loaded" />}</Show>
      <Show when={props.job.state === 'running'}>
        <section class="panel" aria-label="The run under way">
          <div class="panel-head"><StateMark state="running" /><span class="muted">its log so far</span></div>
          <Show when={props.log.length > 0} fallback={<p class="panel-body muted">It has said nothing yet.</p>}>
            <pre class="jobs-output" tabindex={0}>{props.log.join('\n')}</pre>
          </Show>
        </section>
      </Show>
      <Show when={!props.loading} fallback={<Skeleton lines={3} />}>
        <Show when={props.runs.length > 0 || props.job.state === 'running' || props.problem !== null} fallback={<EmptyState icon="clock" title="It has not run yet" />}>
          <For each={newestFirst()}>{(run) => <Run run={run} />}</For>
        </Show>
      </Show>
    </div>
  );
}

function Run(props: { run: JobRun }): JSX.Element {
  const run = () => props.run;
  const took = () => {
    const [from, to] = [parseTime(run().started_at), parseTime(run().finished_at)];
    return from === null || to === null ? null : (to - from) / 1000;
  };
  return (
    <section class="panel" aria-label={`Attempt ${run().attempt}`}>
      <div class="panel-head">
        <strong>Attempt {run().attempt}</strong>
        <StateMark state={run().outcome} />
        <Show when={run().exit_status !== undefined && run().outcome !== 'ok'}><Badge>status {run().exit_status}</Badge></Show>
        <Show when={run().code}>{(code) => <code class="small">{code()}</code>}</Show>
        <span class="spring" />
        <span class="muted small"><Time at={run().started_at} /><Show when={took() !== null}>, took {duration(took())}</Show></span>
      </div>
      <Show when={run().error}>{(error) => <p class="panel-body jobs-error">{error()}</p>}</Show>
      <Show when={run().output !== ''}>
        <div class="jobs-caption">Output{run().truncated ? ', cut after 64 kB' : ''}</div>
        <pre class="jobs-output" tabindex={0} aria-label={`Output of attempt ${run().attempt}`}>{run().output}</pre>
      </Show>
      <Show when={run().log.length > 0}>
        <div class="jobs-caption">Log, {plural(run().log.length, 'line')}</div>
        <pre class="jobs-output" tabindex={0} aria-label={`Log of attempt ${run().attempt}`}>{run().log.join('\n')}</pre>
      </Show>
      <Show when={run().output === '' && run().log.length === 0 && !run().error}><p class="panel-body muted">It said nothing.</p></Show>
    </section>
  );
}

function Around(props: { job: Job; impact: readonly string[]; names: Names }): JSX.Element {
  return (
    <div class="jobs-around">
      <section class="panel" aria-labelledby="jobs-needs">
        <div class="panel-head"><h2 id="jobs-needs">Needs</h2></div>
        <ul class="panel-body stack">
          <For each={props.job.depends_on} fallback={<li class="muted">Nothing: it can start at once.</li>}>
            {(group) => (
              <li class="row">
                <Show when={group.length > 1}><span class="muted">any one of</span></Show>
                <For each={group}>{(id, at) => <><Show when={at() > 0}><span class="muted">or</span></Show><JobLink id={id} names={props.names} /></>}</For>
              </li>
            )}
          </For>
        </ul>
      </section>
      <section class="panel" aria-labelledby="jobs-impact">
        <div class="panel-head"><h2 id="jobs-impact">Would not start if it failed</h2><Badge>{props.impact.length}</Badge></div>
        <ul class="panel-body stack">
          <For each={props.impact.slice(0, kMostNames)} fallback={<li class="muted">Nothing waits for it.</li>}>{(id) => <li><JobLink id={id} names={props.names} /></li>}</For>
          <Show when={props.impact.length > kMostNames}><li class="muted">and {count(props.impact.length - kMostNames)} more; the graph shows all</li></Show>
        </ul>
      </section>
    </div>
  );
}

function Submitted(props: { job: Job }): JSX.Element {
  const job = () => props.job;
  const target = () => (job().target === undefined ? undefined : fleet.find(job().target ?? ''));
  return (
    <section class="panel panel-body" aria-label="As submitted">
      <dl class="facts">
        <dt>Type</dt><dd>{job().type}</dd>
        <Show when={job().target}>{(key) => <><dt>Target</dt><dd><Show when={target()} fallback={key()}><a href={href('/targets/:key', { key: key() })}>{key()}</a></Show></dd></>}</Show>
        <Show when={job().device}>{(name) => <><dt>Device</dt><dd>{name()}</dd></>}</Show>
        <dt>Arguments</dt>
        <dd><Show when={Object.keys(job().arguments).length > 0} fallback={<span class="muted">none</span>}><pre class="jobs-arguments">{JSON.stringify(job().arguments, null, 2)}</pre></Show></dd>
        <dt>Resources</dt><dd>{Object.entries(job().resources).map(([name, value]) => `${amount(name, value)} ${name}`).join(', ') || <span class="muted">none</span>}</dd>
        <dt>Slots</dt><dd>{job().slots}</dd>
        <dt>Time of one attempt</dt><dd>{duration(job().timeout)}</dd>
        <dt>Attempts</dt><dd>{job().retry.attempts}{job().retry.backoff > 0 ? `, first after ${duration(job().retry.backoff)}, then twice as long` : ''}</dd>
        <dt>If a parent fails</dt><dd>{job().on_parent_failure === 'hold' ? 'it is held until the parent is tried again' : 'it fails too'}</dd>
        <dt>Labels</dt><dd>{Object.entries(job().labels).map(([name, value]) => `${name}=${value}`).join(', ') || <span class="muted">none</span>}</dd>
        <dt>Id</dt><dd><code>{job().id}</code></dd>
        <dt>Batch</dt><dd><a href={href('/jobs/batches/:batch', { batch: job().batch })}><code>{job().batch}</code></a></dd>
      </dl>
    </section>
  );
}
