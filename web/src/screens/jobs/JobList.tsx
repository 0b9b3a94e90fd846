// Jobs, newest first, with filters that the server knows (state, type, batch) and those of the page.
import { createEffect, createMemo, createSignal, For, on, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { createStore, reconcile } from 'solid-js/store';
import { href, navigate, query, setQuery } from '../../app/router';
import { useKeys } from '../../app/keys';
import { api } from '../../api/client';
import { Badge, Bar, Button, confirm, EmptyState, FilterInput, Loaded, Menu, StateMark, Table, Time } from '../../design';
import type { Column, MenuEntry } from '../../design';
import { compileFilter, parseFilter, toggleTerm } from '../../logic/filter';
import type { Filter, FilterSchema } from '../../logic/filter';
import { count, duration, plural, shortDuration } from '../../logic/format';
import { fetched } from '../../parts/fetched';
import { may, whyNot } from '../../state/session';
import { cancelJob, steerJob, steerMany } from './acts';
import { actsFor, ended, kJobStates } from './model';
import type { Job, JobType } from './model';
import { kSoonest, watchJobs } from './watch';

const kPage = 200;

function schemaOf(types: () => readonly string[]): FilterSchema<Job> {
  return {
    fields: [
      { name: 'state', help: 'where it stands', kind: 'word', read: (job) => job.state, values: () => kJobStates },
      { name: 'type', help: 'what it does', kind: 'word', read: (job) => job.type, values: types },
      { name: 'batch', help: 'what it was submitted with', kind: 'word', read: (job) => job.batch },
      { name: 'priority', help: 'its tier', kind: 'word', read: (job) => job.priority, values: () => ['critical', 'high', 'normal', 'low'] },
      { name: 'held', help: 'whether it waits to be released', kind: 'word', read: (job) => String(job.held), values: () => ['true', 'false'] },
      { name: 'by', help: 'who submitted it', kind: 'text', read: (job) => job.created_by },
      { name: 'device', help: 'where it runs', kind: 'text', read: (job) => job.device },
      { name: 'target', help: 'what it polls', kind: 'text', read: (job) => job.target },
      { name: 'attempts', help: 'how often it was tried', kind: 'number', read: (job) => job.attempts },
    ],
    text: (job) => `${job.name} ${job.id} ${job.device ?? ''} ${job.target ?? ''} ${job.failure ?? ''}`,
    label: (job, name) => job.labels[name],
  };
}

/** What the server can filter by itself: one plain value of state, type and batch. */
export function serverQuery(filter: Filter): Record<string, string> {
  const asked: Record<string, string> = {};
  for (const term of filter.terms) {
    const value = term.values[0];
    if (term.negated || term.values.length !== 1 || value === undefined || value.includes('*')) continue;
    if (asked[term.field] !== undefined) continue;
    if (term.field === 'state' && (kJobStates as readonly string[]).includes(value)) asked['state'] = value;
    if (term.field === 'type' || term.field === 'batch') asked[term.field] = value;
  }
  return asked;
}

interface Found {
  stored: number;
  jobs: Job[];
  next: string | undefined;
}

export function JobList(): JSX.Element {
  const types = fetched(() => 'types', async (_, signal) => (await api.get<{ items: JobType[] }>('api/job-types', { signal })).items.map((type) => type.name));
  const schema = schemaOf(() => types.data() ?? []);
  const filterText = () => query('filter');
  const filter = createMemo(() => parseFilter(filterText(), schema.fields.map((field) => field.name)));
  const asked = createMemo(() => JSON.stringify(serverQuery(filter())));
  const [pages, setPages] = createSignal(1);
  const [selected, setSelected] = createSignal<ReadonlySet<string>>(new Set());
  const [more, setMore] = createSignal(false);
  // Rows stay the same objects while they change, so that an open menu or a selection is not lost.
  const [kept, setKept] = createStore<{ jobs: Job[] }>({ jobs: [] });
  let shown = '';
  const list = fetched(asked, async (text, signal): Promise<Found> => {
    if (text !== shown) setPages(1);
    shown = text;
    const all: Found = { stored: 0, jobs: [], next: undefined };
    for (let page = 0; page < pages(); page += 1) {
      const answer = await api.get<{ stored: number; items: Job[]; next?: string }>('api/jobs', {
        query: { ...(JSON.parse(text) as Record<string, string>), limit: kPage, cursor: all.next },
        signal,
      });
      all.stored = answer.stored;
      all.jobs.push(...answer.items);
      all.next = answer.next;
      if (all.next === undefined) break;
    }
    return all;
  }, { soonest: kSoonest });
  // Only the answer to the newest question, and it stays until there is another one: the table with its order and place too.
  const [found, setFound] = createSignal<Found | undefined>(undefined);
  createEffect(
    on([list.data, list.problem], ([all]) => {
      setMore(false);
      if (all === undefined) return;
      setKept('jobs', reconcile([...all.jobs], { key: 'id' }));
      setFound(all);
    }),
  );
  const rows = createMemo(() => {
    const test = compileFilter(filter(), schema);
    return kept.jobs.filter(test);
  });
  const chosen = createMemo(() => kept.jobs.filter((job) => selected().has(job.id)));
  watchJobs(list.refetch, () => kept.jobs.some((job) => !ended(job)));

  const own = columns(list.refetch);
  const open = (job: Job) => navigate(href('/jobs/:id', { id: job.id }));
  const loadMore = () => {
    setMore(true);
    setPages(pages() + 1);
    list.refetch();
  };
  const steerChosen = async (verb: 'retry' | 'hold' | 'release' | 'cancel') => {
    const fit = chosen().filter((job) => actsFor(job)[verb]);
    let reason = '';
    if (verb === 'cancel') {
      const answer = await confirm({
        title: `Cancel ${plural(fit.length, 'job')}?`,
        text: 'Runs under way are stopped. Jobs that need them fail, or are held, as each of them says.',
        action: 'Cancel the jobs',
        danger: true,
        reason: 'optional',
      });
      if (answer === null) return;
      reason = answer.reason;
    }
    await steerMany(fit, verb, reason);
    setSelected(new Set<string>());
    list.refetch();
  };
  const bulk = (verb: 'retry' | 'hold' | 'release' | 'cancel', label: string): MenuEntry => {
    const fit = chosen().filter((job) => actsFor(job)[verb]).length;
    const none = fit === 0 ? 'None of the selected jobs is in a state for this.' : undefined;
    return { label: `${label} (${fit})`, danger: verb === 'cancel', disabledReason: whyNot('operate') ?? none, run: () => void steerChosen(verb) };
  };
  useKeys('Jobs', {
    n: ['Submit jobs', () => navigate(href('/jobs/new'))],
    r: ['Look again', list.refetch],
  });

  return (
    <div class="jobs-list fill-column">
      <div class="row">
        <FilterInput label="Filter jobs" schema={schema} value={filterText()} onInput={(text) => setQuery({ filter: text })} placeholder="state:failed type:http by:ada text" />
        <Show when={selected().size > 0}>
          <Menu label="Acts on selected jobs" entries={() => [bulk('retry', 'Try again'), bulk('hold', 'Hold'), bulk('release', 'Release'), bulk('cancel', 'Cancel')]}>
            {plural(selected().size, 'job')} selected
          </Menu>
          <Button kind="quiet" onClick={() => setSelected(new Set<string>())}>Select none</Button>
        </Show>
      </div>
      <div class="row" role="group" aria-label="States">
        <For each={kJobStates}>
          {(state) => (
            <Button dense pressed={filterText().split(/\s+/).includes(`state:${state}`)} onClick={() => setQuery({ filter: oneState(filterText(), state) })}>
              <StateMark state={state} />
            </Button>
          )}
        </For>
      </div>
      <Loaded data={found()} problem={list.problem()} retry={list.refetch} lines={8}>
        {(loaded) => (
          <Table
            id="jobs"
            label="Jobs"
            noun="job"
            columns={own}
            rows={rows()}
            rowKey={(job) => job.id}
            onOpen={open}
            {...(may('operate') ? { selected: selected(), onSelect: setSelected } : {})}
            card={(job) => <Card job={job} />}
            cardHeight={60}
            empty={<Empty filtered={filterText() !== ''} />}
            foot={
              <>
                <Show when={rows().length < loaded().stored}><span>of {count(loaded().stored)} stored</span></Show>
                <Show when={loaded().next}><Button dense kind="quiet" busy={more()} onClick={loadMore}>Load older jobs</Button></Show>
              </>
            }
          />
        )}
      </Loaded>
    </div>
  );
}

function oneState(text: string, state: string): string {
  const term = `state:${state}`;
  const others = text.split(/\s+/).filter((word) => word !== term && !/^state:\w*$/.test(word)).join(' ');
  return text.split(/\s+/).includes(term) ? others : toggleTerm(others, term);
}

function Empty(props: { filtered: boolean }): JSX.Element {
  return (
    <Show
      when={props.filtered}
      fallback={
        <EmptyState icon="jobs" title="No jobs yet" text="A job is work that is done once: poll a target now, send a request, run a command, sweep a network, copy the state.">
          <Button kind="primary" icon="plus" disabledReason={whyNot('operate')} onClick={() => navigate(href('/jobs/new'))}>Submit jobs</Button>
        </EmptyState>
      }
    >
      <EmptyState icon="search" title="No job is like this"><Button onClick={() => setQuery({ filter: '' })}>Clear the filter</Button></EmptyState>
    </Show>
  );
}

function columns(changed: () => void): readonly Column<Job>[] {
  return [
    { id: 'state', title: 'State', width: '128px', cell: (job) => <JobState job={job} />, value: (job) => kJobStates.indexOf(job.state), fixed: true },
    { id: 'name', title: 'Name', width: 'minmax(160px, 2fr)', cell: (job) => <a href={href('/jobs/:id', { id: job.id })}>{job.name}</a>, value: (job) => job.name, fixed: true },
    { id: 'type', title: 'Type', width: '110px', cell: (job) => job.type, value: (job) => job.type },
    { id: 'where', title: 'Where', width: 'minmax(110px, 1fr)', help: 'Device or target', cell: (job) => <span title={whereOf(job)}>{whereOf(job)}</span>, value: whereOf },
    { id: 'note', title: 'Progress or failure', width: 'minmax(160px, 2fr)', cell: (job) => <Note job={job} /> },
    { id: 'priority', title: 'Priority', width: '90px', cell: (job) => job.priority, value: (job) => job.priority, hidden: true },
    { id: 'attempts', title: 'Tries', width: '74px', end: true, help: 'Attempts, of those allowed', cell: (job) => `${job.attempts} of ${job.retry.attempts}`, value: (job) => job.attempts },
    { id: 'took', title: 'Took', width: '84px', end: true, help: 'From its submission to its end, or until now', cell: (job) => <span classList={{ muted: !ended(job) }}>{shortDuration(job.waited)}</span>, value: (job) => job.waited },
    { id: 'by', title: 'By', width: '110px', cell: (job) => (job.created_by ?? '').replace(/^user:/, ''), value: (job) => job.created_by, hidden: true },
    { id: 'created', title: 'Submitted', width: '110px', end: true, cell: (job) => <Time at={job.created_at} relative />, value: (job) => job.created_at },
    { id: 'batch', title: 'Batch', width: '84px', help: 'Graph of its batch', cell: (job) => <a href={href('/jobs/batches/:batch', { batch: job.batch })} aria-label={`Graph of the batch of ${job.name}`}>graph</a> },
    { id: 'acts', title: '', width: '44px', help: 'Acts', fixed: true, cell: (job) => <Acts job={job} changed={changed} /> },
  ];
}

export function JobState(props: { job: Pick<Job, 'state' | 'held'> }): JSX.Element {
  return <StateMark state={props.job.state} word={props.job.held && !ended(props.job) ? 'held' : props.job.state} />;
}

function whereOf(job: Job): string {
  return job.target ?? job.device ?? '';
}

function Note(props: { job: Job }): JSX.Element {
  const share = () => {
    const progress = props.job.progress;
    return progress !== undefined && progress.total > 0 && props.job.state === 'running' ? progress : null;
  };
  return (
    <Show when={share()} fallback={<span classList={{ muted: props.job.failure === undefined }} title={props.job.failure}>{props.job.failure ?? ''}</span>}>
      {(progress) => <Bar tone="info" value={progress().done} max={progress().total} text={`${count(progress().done)} of ${count(progress().total)}`} title={progress().text ?? ''} />}
    </Show>
  );
}

function Acts(props: { job: Job; changed: () => void }): JSX.Element {
  const can = () => actsFor(props.job);
  const steer = async (verb: 'retry' | 'hold' | 'release') => (await steerJob(props.job, verb)) !== null && props.changed();
  const entries = (): MenuEntry[] => {
    const list: MenuEntry[] = [{ label: 'Open', run: () => navigate(href('/jobs/:id', { id: props.job.id })) }];
    const off = whyNot('operate');
    if (can().retry) list.push({ label: 'Try again', icon: 'refresh', disabledReason: off, run: () => void steer('retry') });
    if (can().hold) list.push({ label: 'Hold', icon: 'pause', disabledReason: off, run: () => void steer('hold') });
    if (can().release) list.push({ label: 'Release', icon: 'play', disabledReason: off, run: () => void steer('release') });
    if (can().cancel) list.push({ label: 'Cancel…', icon: 'close', danger: true, disabledReason: off, run: () => void cancelJob(props.job).then((done) => done && props.changed()) });
    return list;
  };
  return <Menu kind="quiet" dense bare icon="more" label={`Acts on ${props.job.name}`} align="end" entries={entries} />;
}

function Card(props: { job: Job }): JSX.Element {
  return (
    <div class="jobs-card">
      <div class="row"><JobState job={props.job} /><strong class="cut">{props.job.name}</strong><span class="spring" /><Badge>{props.job.type}</Badge></div>
      <div class="row small muted">
        <span class="cut">{props.job.failure ?? (ended(props.job) ? `took ${duration(props.job.waited)}` : `for ${duration(props.job.waited)}`)}</span>
        <span class="spring" />
        <Time at={props.job.created_at} relative />
      </div>
    </div>
  );
}
