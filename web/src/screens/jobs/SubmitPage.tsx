// Submitting: a form for one job, and an editor for a graph of them. Both check before they submit.
import { createEffect, createMemo, createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { href, navigate, query, setQuery } from '../../app/router';
import { api, asProblem } from '../../api/client';
import type { Problem } from '../../api/client';
import { Button, CheckField, CodeEditor, FormErrors, Loaded, SelectField, Tabs, TextAreaField, TextField, toast } from '../../design';
import type { CodeProblem } from '../../design';
import { duration, plural } from '../../logic/format';
import { lineOf, parseYaml } from '../../logic/yaml';
import { fetched } from '../../parts/fetched';
import { fleet } from '../../state/fleet';
import { whyNot } from '../../state/session';
import { plainHelp } from './model';
import type { JobArgument, JobType } from './model';
import { argumentLabel, emptyDraft, fieldOf, jobBody, kExample, kNeedsDevice, kNeedsTarget } from './submit_form';
import type { JobDraft } from './submit_form';
import './jobs.css';

interface Accepted {
  batch: string;
  ids: string[];
}

function opened(done: Accepted): void {
  toast('ok', `${plural(done.ids.length, 'job')} submitted`);
  const only = done.ids.length === 1 ? done.ids[0] : undefined;
  navigate(only === undefined ? href('/jobs/batches/:batch', { batch: done.batch }) : href('/jobs/:id', { id: only }));
}

export default function SubmitPage(): JSX.Element {
  const types = fetched(() => 'types', async (_, signal) => (await api.get<{ items: JobType[] }>('api/job-types', { signal })).items);
  return (
    <div class="page jobs-submit">
      <nav class="small" aria-label="Where you are"><a href={href('/jobs')}>Jobs</a></nav>
      <div class="page-head"><h1>Submit jobs</h1></div>
      <Loaded data={types.data()} problem={types.problem()} retry={types.refetch} lines={8}>
        {(known) => (
          <Tabs
            label="Submit jobs"
            now={query('tab')}
            onChange={(tab) => setQuery({ tab: tab === 'one' ? '' : tab })}
            tabs={[
              { id: 'one', title: 'One job', content: () => <OneJob types={known()} /> },
              { id: 'graph', title: 'A graph of jobs', content: () => <GraphEditor types={known()} /> },
            ]}
          />
        )}
      </Loaded>
    </div>
  );
}

function OneJob(props: { types: readonly JobType[] }): JSX.Element {
  const first = () => (props.types.some((type) => type.name === query('type')) ? query('type') : (props.types.find((type) => type.name === 'poll') ?? props.types[0])?.name ?? '');
  const [draft, setDraft] = createSignal<JobDraft>(emptyDraft(first()));
  const [problem, setProblem] = createSignal<Problem | null>(null);
  const [busy, setBusy] = createSignal(false);
  const type = () => props.types.find((one) => one.name === draft().type) ?? (props.types[0] as JobType);
  const set = (change: Partial<JobDraft>) => setDraft((before) => ({ ...before, ...change }));
  const error = (field: string) => problem()?.errors.find((one) => fieldOf(one.pointer ?? '') === field)?.detail;
  const fields = createMemo(() => [
    'type', 'name', 'priority', 'device', 'target', 'timeout', 'retry', 'hold', 'depends_on', 'resources', ...type().arguments.map((one) => `arguments/${one.name}`),
  ]);
  const shown = createMemo(() => (problem()?.errors ?? []).flatMap((one) => (one.pointer !== undefined && fields().includes(fieldOf(one.pointer)) ? [one.pointer] : [])));
  const devices = createMemo(() => [...new Set(fleet.targets().map((target) => target.device))].slice(0, 1000));
  const targets = createMemo(() => fleet.targets().map((target) => target.key).slice(0, 1000));
  const submit = async () => {
    setBusy(true);
    setProblem(null);
    try {
      opened(await api.post<Accepted>('api/jobs', jobBody(draft(), type())));
    } catch (error) {
      setProblem(asProblem(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      class="panel panel-body jobs-form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <FormErrors problem={problem()} fields={shown()} />
      <div class="jobs-fields">
        <SelectField label="Type" value={draft().type} choices={props.types.map((one) => one.name)} onChange={(name) => set({ type: name, arguments: {} })} help={plainHelp(type().help)} error={error('type')} />
        <TextField label="Name" value={draft().name} onInput={(name) => set({ name })} placeholder={draft().type} help="Shown in lists; the type if not given." error={error('name')} />
        <Show when={kNeedsTarget.includes(draft().type)}>
          <TextField label="Target" mono value={draft().target} list={targets()} onInput={(target) => set({ target })} placeholder="addon::device" error={error('target')} />
        </Show>
        <Show when={kNeedsDevice.includes(draft().type)}>
          <TextField label="Device" value={draft().device} list={devices()} onInput={(device) => set({ device })} error={error('device')} />
        </Show>
        <For each={type().arguments}>
          {(argument) => (
            <Argument argument={argument} value={draft().arguments[argument.name] ?? ''} error={error(`arguments/${argument.name}`)} onInput={(value) => set({ arguments: { ...draft().arguments, [argument.name]: value } })} />
          )}
        </For>
      </div>
      <details class="jobs-more more" open={fields().slice(2).some((field) => !field.startsWith('arguments/') && error(field) !== undefined)}>
        <summary>How it is run</summary>
        <div class="jobs-fields">
          <SelectField label="Priority" value={draft().priority} onChange={(priority) => set({ priority })} choices={[{ value: '', label: `as the type says (${type().priority})` }, 'critical', 'high', 'normal', 'low']} error={error('priority')} />
          <TextField label="Time of one attempt" value={draft().timeout} onInput={(timeout) => set({ timeout })} placeholder={duration(type().timeout)} help={`Such as 30s or 5m; at most ${duration(type().longest_timeout)}.`} error={error('timeout')} />
          <TextField label="Attempts" value={draft().attempts} onInput={(attempts) => set({ attempts })} placeholder={String(type().attempts)} error={error('retry')} />
          <TextField label="Wait before the second attempt" value={draft().backoff} onInput={(backoff) => set({ backoff })} placeholder="5s" help="It doubles each time." />
          <TextField label="Needs these jobs first" mono value={draft().dependsOn} onInput={(dependsOn) => set({ dependsOn })} help="Ids of stored jobs, with commas." error={error('depends_on')} />
          <TextField label="Resources" mono value={draft().resources} onInput={(resources) => set({ resources })} placeholder="cpu: 2, memory: 4GiB" help="Held while it runs." error={error('resources')} />
          <CheckField label="Hold it: it starts when somebody releases it" value={draft().hold} onChange={(hold) => set({ hold })} />
        </div>
      </details>
      <div class="row"><Button kind="primary" type="submit" busy={busy()} disabledReason={whyNot('operate')}>Submit the job</Button></div>
    </form>
  );
}

function Argument(props: { argument: JobArgument; value: string; error: string | undefined; onInput: (value: string) => void }): JSX.Element {
  const one = () => props.argument;
  const label = () => `${argumentLabel(one().name)}${one().required ? ' (needed)' : ''}`;
  const help = () => {
    const kinds: Record<string, string> = { texts: one().name === 'argv' ? 'as on a command line; nothing is expanded' : 'several with commas', map: 'one per line, name: value', duration: 'such as 500ms or 2s' };
    const words = one().words === undefined || one().kind === 'text' ? '' : `of ${one().words?.join(', ')}`;
    return [plainHelp(one().help), kinds[one().kind] ?? '', words].filter((part) => part !== '').join('; ');
  };
  const choices = () => [{ value: '', label: 'not given' }, ...(one().kind === 'boolean' ? ['true', 'false'] : (one().words ?? []))];
  return (
    <Show
      when={one().kind === 'boolean' || (one().kind === 'text' && one().words !== undefined)}
      fallback={
        <Show
          when={one().kind === 'map' || one().name === 'body'}
          fallback={<TextField label={label()} mono value={props.value} onInput={props.onInput} help={help()} error={props.error} />}
        >
          <TextAreaField label={label()} mono rows={3} value={props.value} onInput={props.onInput} help={help()} error={props.error} />
        </Show>
      }
    >
      <SelectField label={label()} value={props.value} choices={choices()} onChange={props.onInput} help={help()} error={props.error} />
    </Show>
  );
}

function GraphEditor(props: { types: readonly JobType[] }): JSX.Element {
  const [text, setText] = createSignal(kExample);
  const [refused, setRefused] = createSignal<{ text: string; problem: Problem } | null>(null);
  const [good, setGood] = createSignal<{ text: string; jobs: number } | null>(null);
  const [busy, setBusy] = createSignal<'' | 'check' | 'submit'>('');
  const read = createMemo(() => parseYaml(text()));
  // What the server said holds for the text it saw.
  createEffect(() => {
    const now = text();
    if (refused()?.text !== now) setRefused(null);
    if (good()?.text !== now) setGood(null);
  });
  const mistakes = createMemo<CodeProblem[]>(() => {
    const own = read().problem;
    if (own !== null) return [own];
    return (refused()?.problem.errors ?? []).map((one) => ({ line: lineOf(read(), one.pointer ?? ''), text: `${one.pointer ?? one.parameter ?? ''} ${one.detail}`.trim() }));
  });
  const send = async (submit: boolean) => {
    if (read().problem !== null || busy() !== '') return;
    const sent = text();
    setBusy(submit ? 'submit' : 'check');
    try {
      if (submit) opened(await api.post<Accepted>('api/jobs', read().value));
      else {
        const answer = await api.post<{ jobs: number }>('api/jobs', read().value, { query: { dry_run: true } });
        setRefused(null);
        setGood({ text: sent, jobs: answer.jobs });
      }
    } catch (error) {
      setGood(null);
      setRefused({ text: sent, problem: asProblem(error) });
    } finally {
      setBusy('');
    }
  };
  return (
    <div class="jobs-editor">
      <div class="panel panel-body stack">
        <Show when={refused()}>{(one) => <Show when={one().problem.errors.length === 0}><FormErrors problem={one().problem} /></Show>}</Show>
        <CodeEditor label="Jobs, as YAML or JSON" value={text()} onInput={setText} problems={mistakes()} rows={22} onCheck={() => void send(false)} help={<>Ctrl+Enter checks it. A batch is taken whole or not at all.</>} />
        <div class="row" role="status">
          <Button kind="primary" busy={busy() === 'submit'} disabled={read().problem !== null} disabledReason={whyNot('operate')} onClick={() => void send(true)}>Submit</Button>
          <Button icon="check" busy={busy() === 'check'} disabled={read().problem !== null} disabledReason={whyNot('operate')} onClick={() => void send(false)}>Check only</Button>
          <Show when={good()}>{(one) => <span class="jobs-good">{plural(one().jobs, 'job')} {one().jobs === 1 ? 'is' : 'are'} good; nothing was submitted</span>}</Show>
        </div>
      </div>
      <aside class="panel jobs-keys" aria-label="Keys of a job">
        <div class="panel-head"><h2>Keys of a job</h2></div>
        <dl class="panel-body">
          <For each={kKeys}>{([key, meaning]) => <><dt><code>{key}</code></dt><dd>{meaning}</dd></>}</For>
        </dl>
        <div class="panel-head"><h2>Types</h2></div>
        <dl class="panel-body">
          <For each={props.types}>
            {(type) => (
              <>
                <dt><code>{type.name}</code></dt>
                <dd>{plainHelp(type.help)} <span class="muted">{type.arguments.map((one) => (one.required ? `${one.name} (needed)` : one.name)).join(', ')}</span></dd>
              </>
            )}
          </For>
        </dl>
      </aside>
    </div>
  );
}

const kKeys: readonly [string, string][] = [
  ['name', 'unique within the batch'],
  ['type', 'one of the types below'],
  ['priority', 'critical, high, normal or low'],
  ['depends_on', '[a, b]: both first; [[a, b]]: any one; names of the batch or ids'],
  ['resources', 'named resources it holds while it runs, {cpu: 2}'],
  ['slots', 'how many it takes; 1'],
  ['timeout', 'of one attempt, 30s'],
  ['retry', '{attempts: 3, backoff: 2s}'],
  ['on_parent_failure', 'fail, or hold until the parent is tried again'],
  ['hold', 'true: it starts when somebody releases it'],
  ['device, target', 'where, for types that need one'],
  ['estimate', 'how long it will take, for the critical path'],
  ['arguments', 'what the type takes'],
  ['labels', 'any labels'],
];
