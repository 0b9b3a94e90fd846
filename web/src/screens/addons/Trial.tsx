// Tries a manifest with replies that were captured or made up, or with what a device answers now. Nothing of it is put in force.
import { createEffect, createMemo, createSignal, For, Index, on, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, asProblem, path } from '../../api/client';
import type { Problem } from '../../api/client';
import { Badge, Button, CheckField, CodeEditor, FormErrors, Icon, StateMark, TextAreaField, TextField } from '../../design';
import { plural } from '../../logic/format';
import { parseYaml } from '../../logic/yaml';
import type { Plain } from '../../logic/yaml';
import { whyNot } from '../../state/session';
import { AskDevice } from './AskDevice';
import { kPasted, outline, stepsOf, stepsTemplate } from './model';
import type { FreshReply, FreshTrial, Reply, Trial as TrialResult, TrialStep } from './model';

const kApart = 60;

export function Trial(props: { name: string | null; manifest: string }): JSX.Element {
  const about = createMemo(() => outline(props.manifest), undefined, { equals: (a, b) => JSON.stringify(a) === JSON.stringify(b) });
  const pasted = () => kPasted[about().protocol];
  const [replies, setReplies] = createSignal<Reply[]>([{ text: '', status: '' }]);
  const [asSteps, setAsSteps] = createSignal(false);
  const [steps, setSteps] = createSignal('');
  const [parameters, setParameters] = createSignal<Record<string, string>>({});
  const [result, setResult] = createSignal<TrialResult | null>(null);
  const [fresh, setFresh] = createSignal<FreshTrial | null>(null);
  const [problem, setProblem] = createSignal<Problem | null>(null);
  const [busy, setBusy] = createSignal(false);
  createEffect(on(() => about().protocol, (protocol) => {
    const kind = kPasted[protocol];
    if (kind !== undefined && replies().every((reply) => reply.text === '')) setReplies([{ text: kind.example, status: kind.status }]);
    setSteps(stepsTemplate(protocol));
  }));
  const written = () => asSteps() || pasted() === undefined;
  const readSteps = createMemo(() => parseYaml(steps()));
  const change = (at: number, part: Partial<Reply>) => setReplies(replies().map((reply, index) => (index === at ? { ...reply, ...part } : reply)));
  // A device has parameters of its own: what nobody wrote here is left to it.
  const parametersGiven = (examples: boolean): Record<string, string> => Object.fromEntries(about().parameters.flatMap((one) => {
    const value = parameters()[one.name] ?? (examples && one.required ? one.initial : '');
    return value === '' ? [] : [[one.name, value]];
  }));
  const takeReply = (answer: FreshTrial) => {
    const said = answer.replies[0];
    if (said === undefined) return;
    setReplies([{ text: said.text, status: said.status === 0 && about().protocol === 'http' ? '' : String(said.status) }]);
    setAsSteps(false);
  };
  const asks = () => !['webhook', 'trap', 'push'].includes(about().protocol);
  const run = async () => {
    if (busy() || (written() && readSteps().problem !== null)) return;
    setBusy(true);
    setProblem(null);
    setFresh(null);
    const given = parametersGiven(true);
    const list: Plain = written() ? readSteps().value : stepsOf(about().protocol, replies(), kApart);
    try {
      setResult(await api.post<TrialResult>(path`api/addons/${props.name ?? (about().name || 'new')}/test`, { manifest: props.manifest, steps: list, ...(Object.keys(given).length > 0 ? { parameters: given } : {}) }));
    } catch (error) {
      setResult(null);
      setProblem(asProblem(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="stack addons-trial">
      <section class="panel panel-body stack" aria-label="Replies to try it with">
        <p class="muted small">Paste what a device answered: you see what the manifest reads in it. Nothing is sent and nothing is stored.</p>
        <Show when={!written()} fallback={
          <CodeEditor label="Steps" rows={9} value={steps()} onInput={setSteps} problems={readSteps().problem === null ? [] : [readSteps().problem as { line: number; text: string }]} onCheck={() => void run()} help="As in the cases of addons: at, and http, snmp, command, failure, replies …" />
        }>
          <Index each={replies()}>
            {(reply, at) => (
              <div class="addons-reply">
                <TextAreaField label={replies().length === 1 ? (pasted()?.label ?? '') : `${pasted()?.label ?? ''}, after ${at * kApart} s`} mono rows={5} value={reply().text} onInput={(text) => change(at, { text })} />
                <Show when={pasted()?.statusLabel}>{(label) => <TextField label={label()} value={reply().status} onInput={(status) => change(at, { status })} />}</Show>
              </div>
            )}
          </Index>
          <div class="row">
            <Button dense kind="quiet" icon="plus" onClick={() => setReplies([...replies(), { ...(replies().at(-1) as Reply) }])}>Another reply, {kApart} s later</Button>
            <Show when={replies().length > 1}><Button dense kind="quiet" onClick={() => setReplies(replies().slice(0, -1))}>Take the last away</Button></Show>
          </div>
        </Show>
        <Show when={pasted() !== undefined}><CheckField label="Write the steps as YAML (several requests, failures, headers)" value={asSteps()} onChange={setAsSteps} /></Show>
        <Show when={about().parameters.length > 0}>
          <details class="more">
            <summary>Parameters</summary>
            <div class="stack">
              <For each={about().parameters}>
                {(one) => <TextField label={one.name} mono value={parameters()[one.name] ?? ''} placeholder={one.initial} help={one.help} onInput={(value) => setParameters({ ...parameters(), [one.name]: value })} />}
              </For>
            </div>
          </details>
        </Show>
        <div class="row"><Button kind="primary" icon="play" busy={busy()} disabledReason={whyNot('manage')} onClick={() => void run()}>Try it</Button></div>
        <FormErrors problem={problem()} />
      </section>
      <Show when={asks()}>
        <AskDevice manifest={props.manifest} parameters={parametersGiven(false)} onAnswer={(answer) => (setProblem(null), setFresh(answer), setResult(answer))} />
      </Show>
      <Show when={result()}>{(found) => <Result result={found()} />}</Show>
      <Show when={fresh()?.replies.length ? fresh() : null}>
        {(answer) => (
          <section class="panel" aria-label="What the device said">
            <div class="panel-head"><h3>What it said</h3></div>
            <For each={answer().replies}>{(reply) => <Said reply={reply} />}</For>
            <Show when={pasted() !== undefined && answer().replies.length === 1 && answer().replies[0]?.text}>
              <div class="panel-part"><Button dense icon="down" onClick={() => takeReply(answer())}>Go on with this answer</Button></div>
            </Show>
          </section>
        )}
      </Show>
    </div>
  );
}

function Said(props: { reply: FreshReply }): JSX.Element {
  return (
    <div class="panel-part">
      <Show when={props.reply.problem}>{(why) => <p class="muted">{why()}</p>}</Show>
      <Show when={props.reply.text}>{(text) => <pre class="addons-said">{text()}</pre>}</Show>
      <Show when={!props.reply.problem && !props.reply.text}><p class="muted">Nothing that is text.</p></Show>
    </div>
  );
}

function Result(props: { result: TrialResult }): JSX.Element {
  return (
    <section class="panel" aria-label="What came of it">
      <div class="panel-head"><h3>It asks</h3><For each={props.result.asks} fallback={<span class="muted">{props.result.steps[0]?.failed ? 'nothing' : 'nothing: it listens'}</span>}>{(ask) => <code class="addons-ask">{ask}</code>}</For></div>
      <For each={props.result.steps}>{(step, at) => <Step step={step} title={props.result.steps.length === 1 ? 'What it reads' : `Reply ${at() + 1}`} />}</For>
    </section>
  );
}

const kLevels: Record<string, string> = { triggered: 'active', clear: 'ok', between: 'degraded', unknown: 'unknown' };

function Step(props: { step: TrialStep; title: string }): JSX.Element {
  const step = () => props.step;
  const flags = () => [
    step().failed ? 'failed' : '', step().degraded ? 'degraded' : '', step().unreadable ? 'not readable' : '', step().restarted ? 'device restarted' : '',
    step().changed ? 'counts as a change' : '', step().dropped > 0 ? `${plural(step().dropped, 'value')} dropped` : '',
  ].filter((flag) => flag !== '');
  return (
    <div class="addons-step panel-part">
      <div class="row"><h3>{props.title}</h3><For each={flags()}>{(flag) => <Badge tone={/change|restarted/.test(flag) ? 'info' : 'warn'}>{flag}</Badge>}</For></div>
      <Show when={step().problems.length > 0}>
        <ul class="addons-problems icon-lines"><For each={step().problems}>{(text) => <li><Icon name="warning" size={13} /><span>{text}</span></li>}</For></ul>
      </Show>
      <Show when={Object.keys(step().readings).length > 0} fallback={<p class="muted">No values.</p>}>
        <table class="addons-table plain-table">
          <thead><tr><th scope="col">Metric</th><th scope="col">Read</th><th scope="col">Stored</th></tr></thead>
          <tbody><For each={Object.entries(step().readings)}>{([name, value]) => <tr><th scope="row"><code>{name}</code></th><td>{value}</td><td>{step().samples[name] ?? <span class="muted">not yet</span>}</td></tr>}</For></tbody>
        </table>
      </Show>
      <Show when={Object.keys(step().conditions).length > 0}>
        <ul class="addons-levels"><For each={Object.entries(step().conditions)}>{([name, level]) => <li><StateMark state={kLevels[level] ?? 'unknown'} word={level} /> <code>{name}</code></li>}</For></ul>
      </Show>
      <Show when={step().signals.length > 0}>
        <ul class="addons-levels">
          <For each={step().signals}>
            {(signal) => <li><StateMark state={signal.clear ? 'resolved' : signal.severity} word={signal.clear ? 'over' : signal.severity} /> <strong>{signal.title ?? signal.type}</strong> <span class="muted">{signal.subject ?? ''} {signal.message ?? ''}</span></li>}
          </For>
        </ul>
      </Show>
    </div>
  );
}
