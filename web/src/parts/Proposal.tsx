// What a sweep found, as a difference to what is there: choose, then accept as one change.
import { createEffect, createMemo, createSignal, For, on, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { href } from '../app/router';
import { api, asProblem, path } from '../api/client';
import type { Problem } from '../api/client';
import { Badge, Button, EmptyState, FormErrors, Loaded, TextField, toast } from '../design';
import { count, plural } from '../logic/format';
import { fetched } from './fetched';
import { fleet } from '../state/fleet';
import { whyNot } from '../state/session';
import { byDevice, chosenOperations } from './proposal';
import type { Operation, ProposedDevice } from './proposal';
import './sweep.css';

const kMostAtOnce = 1000;

const kEnded = ['completed', 'failed', 'cancelled'];

/** `onAdded` after what was chosen is in the fleet. */
export default function Proposal(props: { job: { id: string; state: string }; onAdded?: () => void }): JSX.Element {
  const over = () => kEnded.includes(props.job.state);
  const ready = () => (props.job.state === 'completed' ? props.job.id : null);
  const proposal = fetched(ready, (id, signal) => api.get<{ devices: number; operations: Operation[] }>(path`api/jobs/${id}/proposal`, { signal }));
  const devices = createMemo(() => {
    const names = new Set(fleet.targets().map((target) => target.device));
    return byDevice(proposal.data()?.operations ?? [], { device: (name) => names.has(name), target: (key) => fleet.find(key) !== undefined });
  });
  const [chosen, setChosen] = createSignal<ReadonlySet<string>>(new Set());
  // All that is new is chosen when the proposal comes, not again when the fleet changes.
  const there = createMemo(() => proposal.data() !== undefined);
  createEffect(on(there, () => setChosen(new Set(devices().flatMap((device) => device.operations.filter((one) => !one.exists).map((one) => one.key))))));
  const operations = createMemo(() => chosenOperations(devices(), chosen()));
  const [reason, setReason] = createSignal('');
  const [problem, setProblem] = createSignal<Problem | null>(null);
  const [busy, setBusy] = createSignal(false);
  const toggle = (keys: readonly string[], take: boolean) => {
    const next = new Set(chosen());
    for (const key of keys) if (take) next.add(key);
    else next.delete(key);
    setChosen(next);
  };
  const accept = async () => {
    if (busy() || operations().length === 0) return;
    setBusy(true);
    setProblem(null);
    const all = operations();
    let added = 0;
    try {
      for (let at = 0; at < all.length; at += kMostAtOnce) {
        const part = all.slice(at, at + kMostAtOnce);
        await api.post('api/targets/bulk', { operations: part, ...(reason().trim() === '' ? {} : { reason: reason().trim() }) });
        added += part.length;
      }
      toast('ok', `${plural(added, 'target')} added`);
      props.onAdded?.();
    } catch (error) {
      setProblem(asProblem(error));
      if (added > 0) toast('info', `${plural(added, 'target')} added before that`);
    } finally {
      setBusy(false);
      void fleet.refresh();
    }
  };
  return (
    <Show when={ready()} fallback={<EmptyState icon="search" title={over() ? 'There is no proposal' : 'The sweep is under way'} text={over() ? 'The sweep did not complete. Try it again.' : 'What it proposes is shown here when it has ended; its log is under Attempts.'} />}>
      <Loaded data={proposal.data()} problem={proposal.problem()} retry={proposal.refetch} lines={5}>
        {() => (
          <Show when={devices().length > 0} fallback={<EmptyState icon="check" title="Nothing new was found" text="Every device that answered is in the fleet already. The log under Attempts lists the addresses." />}>
            <div class="stack">
              <section class="panel" aria-label="Proposed devices">
                <div class="panel-head">
                  <strong>{plural(devices().length, 'device')}, {plural(devices().flatMap((device) => device.operations).length, 'target')}</strong>
                  <span class="spring" />
                  <Button dense kind="quiet" onClick={() => toggle(devices().flatMap((device) => device.operations.filter((one) => !one.exists).map((one) => one.key)), true)}>Choose all</Button>
                  <Button dense kind="quiet" onClick={() => setChosen(new Set<string>())}>Choose none</Button>
                </div>
                <ul class="sweep-proposal"><For each={devices()}>{(device) => <DeviceDiff device={device} chosen={chosen()} toggle={toggle} />}</For></ul>
              </section>
              <FormErrors problem={problem()} />
              <form class="panel panel-body sweep-accept" onSubmit={(event) => (event.preventDefault(), void accept())}>
                <TextField label="Reason (optional)" value={reason()} onInput={setReason} help="Kept in the audit trail." />
                <Button kind="primary" type="submit" icon="check" busy={busy()} disabled={operations().length === 0} disabledReason={whyNot('manage')}>Add {plural(operations().length, 'target')}</Button>
              </form>
            </div>
          </Show>
        )}
      </Loaded>
    </Show>
  );
}

function DeviceDiff(props: { device: ProposedDevice; chosen: ReadonlySet<string>; toggle: (keys: readonly string[], take: boolean) => void }): JSX.Element {
  const device = () => props.device;
  const open = () => device().operations.filter((one) => !one.exists).map((one) => one.key);
  const taken = () => open().filter((key) => props.chosen.has(key)).length;
  const labels = () => Object.entries(device().labels).filter(([name]) => name !== 'discovered_by');
  return (
    <li class="sweep-diff">
      <label class="check sweep-diff-head">
        <input type="checkbox" checked={open().length > 0 && taken() === open().length} disabled={open().length === 0} ref={(box) => createEffect(() => (box.indeterminate = taken() > 0 && taken() < open().length))} onChange={(event) => props.toggle(open(), event.currentTarget.checked)} />
        <span class="row">
          <strong>{device().name}</strong>
          <span class="mono small">{device().address}</span>
          <Show when={device().known} fallback={<Badge tone="ok">new device</Badge>}><Badge>known device</Badge></Show>
          <For each={labels()}>{([name, value]) => <Badge tone="info">{name}={value}</Badge>}</For>
        </span>
      </label>
      <ul>
        <For each={device().operations}>
          {(one) => (
            <li classList={{ added: !one.exists && props.chosen.has(one.key) }}>
              <Show
                when={!one.exists}
                fallback={<span class="muted"><span aria-hidden="true">= </span><a href={href('/targets/:key', { key: one.key })}>{one.key}</a> is there already</span>}
              >
                <label class="check">
                  <input type="checkbox" checked={props.chosen.has(one.key)} onChange={(event) => props.toggle([one.key], event.currentTarget.checked)} />
                  <span><span aria-hidden="true">+ </span><code>{one.operation.addon}</code><span class="muted"> as {one.key}{settings(one.operation)}</span></span>
                </label>
              </Show>
            </li>
          )}
        </For>
      </ul>
    </li>
  );
}

function settings(operation: Operation): string {
  const given = Object.entries(operation.spec ?? {});
  return given.length === 0 ? '' : `, with ${given.map(([name, value]) => `${name} ${typeof value === 'number' ? count(value) : JSON.stringify(value)}`).join(', ')}`;
}
