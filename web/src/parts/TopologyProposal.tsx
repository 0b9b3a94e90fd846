// Parents that a topology job proposes, beside what devices have now: choose, then accept as one change.
import { createEffect, createMemo, createSignal, For, on, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { href } from '../app/router';
import { api, asProblem, path } from '../api/client';
import type { Problem } from '../api/client';
import { Badge, Button, confirm, EmptyState, FormErrors, Loaded, TextField, toast } from '../design';
import { count, plural } from '../logic/format';
import { fetched } from './fetched';
import { fleet } from '../state/fleet';
import { whyNot } from '../state/session';
import { anyOf, fileText, nowText, sortChanges } from './topology';
import type { ParentsChange, TopologyFound } from './topology';
import './sweep.css';

const kEnded = ['completed', 'failed', 'cancelled'];

export default function TopologyProposal(props: { job: { id: string; state: string } }): JSX.Element {
  const over = () => kEnded.includes(props.job.state);
  const ready = () => (props.job.state === 'completed' ? props.job.id : null);
  const found = fetched(ready, (id, signal) => api.get<{ topology: TopologyFound }>(path`api/jobs/${id}/proposal`, { signal }));
  const [problem, setProblem] = createSignal<Problem | null>(null);
  const [busy, setBusy] = createSignal(false);
  const accept = async (devices: readonly string[], reason: string, adopt: boolean) => {
    if (busy() || devices.length === 0) return;
    setBusy(true);
    setProblem(null);
    try {
      const { accepted } = await api.post<{ accepted: string[] }>(path`api/jobs/${props.job.id}/accept`, { devices, ...(adopt ? { adopt } : {}), ...(reason.trim() === '' ? {} : { reason: reason.trim() }) });
      toast('ok', `Parents of ${plural(accepted.length, 'device')} accepted`);
    } catch (error) {
      setProblem(asProblem(error));
    } finally {
      setBusy(false);
      found.refetch();
      void fleet.refresh();
    }
  };
  return (
    <Show when={ready()} fallback={<EmptyState icon="tree" title={over() ? 'There is no proposal' : 'Devices are being asked'} text={over() ? 'The job did not complete: its failure says why.' : 'What they say of their neighbours is shown here as a tree when all were asked.'} />}>
      <Loaded data={found.data()} problem={found.problem()} retry={found.refetch} lines={5}>
        {(now) => <Found found={now().topology} problem={problem()} busy={busy()} accept={(devices, reason, adopt) => void accept(devices, reason, adopt)} />}
      </Loaded>
    </Show>
  );
}

function Found(props: { found: TopologyFound; problem: Problem | null; busy: boolean; accept: (devices: readonly string[], reason: string, adopt: boolean) => void }): JSX.Element {
  const sorted = createMemo(() => sortChanges(props.found.changes));
  const [chosen, setChosen] = createSignal<ReadonlySet<string>>(new Set());
  const all = () => new Set(sorted().ours.map((change) => change.device));
  createEffect(on(() => sorted().ours.map((change) => change.device).join('\n'), () => setChosen(all())));
  const [reason, setReason] = createSignal('');
  const toggle = (device: string) => {
    const next = new Set(chosen());
    if (!next.delete(device)) next.add(device);
    setChosen(next);
  };
  const adopt = async () => {
    const yes = await confirm({
      title: `Adopt ${plural(sorted().owned.length, 'device')}?`,
      text: 'From now on they are edited here. Take them out of the fleet files then: as long as those name them too, applying them is refused.',
      action: 'Adopt and accept',
      reason: 'optional',
    });
    if (yes !== null) props.accept(sorted().owned.map((change) => change.device), yes.reason, true);
  };
  return (
    <div class="stack">
      <p class="muted">
        {count(props.found.answered)} of {plural(props.found.asked, 'device')} answered. Seen from {anyOf(props.found.roots)}; {plural(props.found.same + sorted().done, 'device')} stand as they should.
        <Show when={props.found.left_out > 0}> {plural(props.found.left_out, 'device')} did not fit: accept these, then run it again.</Show>
      </p>
      <FormErrors problem={props.problem} />
      <Show when={sorted().ours.length > 0} fallback={<Show when={sorted().owned.length + sorted().byHand.length === 0}><EmptyState icon="check" title="Nothing to change" text="Every device that was reached has the parents it should have." /></Show>}>
        <section class="panel" aria-label="Proposed parents">
          <div class="panel-head">
            <strong>{plural(sorted().ours.length, 'device')}</strong>
            <span class="spring" />
            <Button dense kind="quiet" onClick={() => setChosen(all())}>Choose all</Button>
            <Button dense kind="quiet" onClick={() => setChosen(new Set<string>())}>Choose none</Button>
          </div>
          <ul class="sweep-proposal">
            <For each={sorted().ours}>
              {(change) => (
                <li class="sweep-diff">
                  <label class="check">
                    <input type="checkbox" checked={chosen().has(change.device)} onChange={() => toggle(change.device)} />
                    <Behind change={change} />
                  </label>
                </li>
              )}
            </For>
          </ul>
        </section>
        <form class="panel panel-body sweep-accept" onSubmit={(event) => (event.preventDefault(), props.accept([...chosen()], reason(), false))}>
          <TextField label="Reason (optional)" value={reason()} onInput={setReason} help="Kept in the audit trail." />
          <Button kind="primary" type="submit" icon="check" busy={props.busy} disabled={chosen().size === 0} disabledReason={whyNot('manage')}>Accept parents of {plural(chosen().size, 'device')}</Button>
        </form>
      </Show>
      <Show when={sorted().owned.length > 0}>
        <section class="panel" aria-label="Devices of files and sources">
          <div class="panel-head">
            <strong>{plural(sorted().owned.length, 'device')} of files and sources</strong>
            <span class="muted small">write this into their entries, or adopt them</span>
            <span class="spring" />
            <Button dense busy={props.busy} disabledReason={whyNot('manage')} onClick={() => void adopt()}>Adopt and accept…</Button>
          </div>
          <pre class="sweep-text" tabindex={0} aria-label="For the fleet file">{fileText(sorted().owned)}</pre>
        </section>
      </Show>
      <Show when={sorted().byHand.length > 0}>
        <section class="panel" aria-label="Written by hand">
          <div class="panel-head"><strong>{plural(sorted().byHand.length, 'device')} written by hand otherwise</strong><span class="muted small">they stay as they are</span></div>
          <ul class="sweep-proposal"><For each={sorted().byHand}>{(change) => <li class="sweep-diff"><Behind change={change} /></li>}</For></ul>
        </section>
      </Show>
      <Uncertain found={props.found} />
    </div>
  );
}

function Behind(props: { change: ParentsChange }): JSX.Element {
  const change = () => props.change;
  return (
    <span class="row">
      <a href={href('/devices/:name', { name: change().device })}><strong>{change().device}</strong></a>
      <span>{change().parents.length === 0 ? 'is a root and stands behind nothing' : `behind ${anyOf(change().parents)}`}</span>
      <For each={change().by}>{(by) => <Badge tone="info">{by}</Badge>}</For>
      <Show when={change().current.length > 0}><span class="muted">now behind {nowText(change().current)}</span></Show>
    </span>
  );
}

function Uncertain(props: { found: TopologyFound }): JSX.Element {
  const found = () => props.found;
  return (
    <>
      <Note title="Not reached from a root" notes={found().unreached}>{(name) => <a href={href('/devices/:name', { name })}>{name}</a>}</Note>
      <Note title="Neighbours that are not in the fleet" notes={found().unknown}>
        {(one) => <>{[one.name, one.address, one.hardware].filter(Boolean).join(', ')}<span class="muted"> next to {one.seen_by}, by {one.by}</span></>}
      </Note>
      <Note title="Not certain" notes={found().ambiguous}>
        {(one) => <>{one.what}<span class="muted">{one.seen_by ? ` next to ${one.seen_by}` : ''}: {one.devices.join(' or ')}</span></>}
      </Note>
      <Note title="Would stand behind themselves, with parents written by hand" notes={found().circles}>{(name) => <>{name}</>}</Note>
      <Note title="Seen from one side only" notes={found().one_sided}>{(ends) => <>{ends.join(' and ')}</>}</Note>
    </>
  );
}

function Note<T>(props: { title: string; notes: { count: number; items: T[] } | undefined; children: (item: T) => JSX.Element }): JSX.Element {
  return (
    <Show when={props.notes}>
      {(notes) => (
        <details class="more">
          <summary>{props.title} ({count(notes().count)})</summary>
          <ul class="sweep-notes">
            <For each={notes().items}>{(item) => <li>{props.children(item)}</li>}</For>
            <Show when={notes().count > notes().items.length}><li class="muted">and {count(notes().count - notes().items.length)} more</li></Show>
          </ul>
        </details>
      )}
    </Show>
  );
}
