// Breakers that are not closed and dead letters: what fails, since when, why, when it is tried again; reset,
// retry and remove, one by one, those selected, or all.
import { createMemo, createSignal, onCleanup, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { allItems } from '../../api/client';
import { live } from '../../api/live';
import type { TaskStateData } from '../../api/model';
import { Badge, Button, Countdown, Loaded, StateMark, Time } from '../../design';
import type { Column } from '../../design';
import type { FilterSchema } from '../../logic/filter';
import { count } from '../../logic/format';
import { resetBreakers, retryDeadLetters } from '../../parts/failure_acts';
import type { Choice } from '../../parts/failure_acts';
import { whyNot } from '../../state/session';
import { deadLetterMark } from '../../parts/dead_letter';
import { polled } from '../../state/polled';
import { Due } from './Due';
import { FailureDialog } from './FailureDialog';
import type { Failure } from './FailureDialog';
import { errorColumns, FailureSection, keyColumn } from './FailureSection';
import type { View } from './FailureSection';
import { RemoveDialog } from './RemoveDialog';
import type { BreakerEntry, DeadLetterEntry } from './shapes';

const kMost = 5000;
const kEvery = 20_000;
const kAfterEvent = 1500;

const kBreakerFilter: FilterSchema<BreakerEntry> = {
  fields: [
    { name: 'type', help: 'class: the addon of the target', kind: 'text', read: (row) => row.type },
    { name: 'state', help: 'open or half_open', kind: 'word', read: (row) => row.state, values: () => ['open', 'half_open'] },
    { name: 'code', help: 'code of the last error', kind: 'text', read: (row) => row.code },
    { name: 'failures', help: 'failures in a row', kind: 'number', read: (row) => row.failures },
    { name: 'dead', help: 'is a dead letter: yes or no', kind: 'word', read: (row) => (row.deadLetter ? 'yes' : 'no'), values: () => ['yes', 'no'] },
  ],
  text: (row) => `${row.key} ${row.lastError ?? ''}`,
};

const kDeadFilter: FilterSchema<DeadLetterEntry> = {
  fields: [
    { name: 'type', help: 'class: the addon of the target', kind: 'text', read: (row) => row.type },
    { name: 'reason', help: 'why it was set aside', kind: 'word', read: (row) => row.reason, values: () => ['max_retry_attempts', 'permanent_failure', 'repeated_interruption'] },
    { name: 'code', help: 'code of the last error', kind: 'text', read: (row) => row.code },
    { name: 'attempts', help: 'attempts that failed', kind: 'number', read: (row) => row.retryCount },
  ],
  text: (row) => `${row.key} ${row.lastError ?? ''}`,
};

export function Failures(): JSX.Element {
  const breakers = polled((signal) => allItems<BreakerEntry>('api/monitoring/breakers', {}, kMost, signal), { every: kEvery });
  const dead = polled((signal) => allItems<DeadLetterEntry>('api/monitoring/dlq', {}, kMost, signal), { every: kEvery });
  const [shown, setShown] = createSignal<{ kind: Failure['kind']; key: string } | null>(null);
  const [removing, setRemoving] = createSignal<readonly string[] | null>(null);
  const refresh = () => void Promise.all([breakers.refresh(), dead.refresh()]);
  let soon: ReturnType<typeof setTimeout> | undefined;
  onCleanup(() => clearTimeout(soon));
  onCleanup(
    live.on<TaskStateData>(['task_state_changed'], (events) => {
      if (soon !== undefined || !events.some((event) => event.data.kind === 'breaker' || event.data.kind === 'dead_letter')) return;
      soon = setTimeout(() => ((soon = undefined), refresh()), kAfterEvent);
    }),
  );
  const act = async (run: Promise<number | null>) => {
    if ((await run) !== null) refresh();
  };
  const reset = (choice: Choice) => void act(resetBreakers(choice));
  const retry = (choice: Choice) => void act(retryDeadLetters(choice));
  // What is shown follows the lists; when it recovered meanwhile, it is gone.
  const failure = createMemo<Failure | null>(() => {
    const want = shown();
    if (want === null) return null;
    if (want.kind === 'breaker') {
      const entry = breakers.data()?.find((one) => one.key === want.key);
      return entry ? { kind: 'breaker', entry } : null;
    }
    const entry = dead.data()?.find((one) => one.key === want.key);
    return entry ? { kind: 'dead_letter', entry } : null;
  });
  return (
    <div class="stack">
      <Loaded data={dead.data()} problem={dead.problem()} retry={dead.refresh} title="The dead letters could not be loaded" lines={6}>
        {(rows) => <DeadLetters rows={rows()} onOpen={(row) => setShown({ kind: 'dead_letter', key: row.key })} onRetry={retry} onRemove={setRemoving} />}
      </Loaded>
      <Loaded data={breakers.data()} problem={breakers.problem()} retry={breakers.refresh} title="The breakers could not be loaded" lines={6}>
        {(rows) => <Breakers rows={rows()} onOpen={(row) => setShown({ kind: 'breaker', key: row.key })} onReset={reset} />}
      </Loaded>
      <Show when={failure()}>
        {(one) => (
          <FailureDialog
            failure={one()}
            onClose={() => setShown(null)}
            onReset={() => reset({ keys: [one().entry.key] })}
            onRetry={() => retry({ keys: [one().entry.key] })}
            onRemove={() => {
              // The first dialog gives the focus back before the second one takes it.
              const { key } = one().entry;
              setShown(null);
              setRemoving([key]);
            }}
          />
        )}
      </Show>
      <Show when={removing()} keyed>{(keys) => <RemoveDialog keys={keys} onClose={() => setRemoving(null)} onDone={refresh} />}</Show>
    </div>
  );
}

/** What the acts on many are about: what is selected, else what is shown. */
function wordOf(verb: string, view: View<unknown>): string {
  if (view.selected().size > 0) return `${verb} ${count(view.selected().size)} selected`;
  return view.filtered() ? `${verb} the ${count(view.rows().length)} shown` : `${verb} all`;
}

const nothing = (view: View<unknown>) => whyNot('manage') ?? (view.rows().length === 0 ? 'Nothing is shown.' : undefined);

function Breakers(props: { rows: readonly BreakerEntry[]; onOpen: (row: BreakerEntry) => void; onReset: (choice: Choice) => void }): JSX.Element {
  const Reset = (own: { row: BreakerEntry }) => <Button dense bare kind="quiet" icon="refresh" label={`Reset the breaker of ${own.row.key}`} disabledReason={whyNot('manage')} onClick={() => props.onReset({ keys: [own.row.key] })} />;
  const columns: Column<BreakerEntry>[] = [
    keyColumn(),
    { id: 'state', title: 'State', width: '104px', cell: (row) => <StateMark state={row.state} />, value: (row) => row.state },
    { id: 'failures', title: 'Failures', width: '80px', end: true, cell: (row) => count(row.failures), value: (row) => row.failures },
    { id: 'since', title: 'Failing for', help: 'Since the first failure', width: '100px', cell: (row) => <Time at={row.firstFailureAt} relative />, value: (row) => row.firstFailureAt ?? null },
    { id: 'next', title: 'Next probe', width: '96px', end: true, cell: (row) => <Countdown at={row.retryAt} />, value: (row) => row.retryAt ?? null },
    { id: 'dead', title: 'Dead letter', width: '100px', cell: (row) => <Show when={row.deadLetter} fallback={<span class="muted">no</span>}><Badge tone="bad">yes</Badge></Show>, value: (row) => (row.deadLetter ? 1 : 0) },
    ...errorColumns<BreakerEntry>(),
    { id: 'act', title: 'Acts', width: '56px', fixed: true, cell: (row) => <Reset row={row} /> },
  ];
  return (
    <FailureSection
      id="scheduler-breakers"
      title="Breakers"
      noun="breaker"
      rows={props.rows}
      schema={kBreakerFilter}
      filter="breakers"
      placeholder="type:snmp* state:open failures>5 text"
      columns={columns}
      onOpen={props.onOpen}
      none={{ title: 'All breakers are closed', text: 'After three failures in a row a breaker opens, and its target is only probed until it answers.' }}
      acts={(view) => (
        <>
          <Show when={view.selected().size > 0}>
            <Button kind="primary" icon="refresh" disabledReason={whyNot('manage')} onClick={() => props.onReset({ keys: [...view.selected()] })}>Reset {count(view.selected().size)} selected</Button>
          </Show>
          <Button icon="refresh" disabledReason={nothing(view)} onClick={() => props.onReset(view.filtered() ? { keys: view.rows().map((row) => row.key) } : { keys: [], all: true })}>
            {view.filtered() ? `Reset the ${count(view.rows().length)} shown` : 'Reset all'}
          </Button>
        </>
      )}
      card={(row) => (
        <>
          <span class="row"><StateMark state={row.state} short /><span class="mono cut">{row.key}</span><span class="spring" /><Reset row={row} /></span>
          <span class="muted small">{count(row.failures)} failures, probe <Due at={row.retryAt} /></span>
        </>
      )}
    />
  );
}

function DeadLetters(props: { rows: readonly DeadLetterEntry[]; onOpen: (row: DeadLetterEntry) => void; onRetry: (choice: Choice) => void; onRemove: (keys: readonly string[]) => void }): JSX.Element {
  const Retry = (own: { row: DeadLetterEntry }) => <Button dense bare kind="quiet" icon="refresh" label={`Retry ${own.row.key}`} disabledReason={whyNot('manage')} onClick={() => props.onRetry({ keys: [own.row.key] })} />;
  const columns: Column<DeadLetterEntry>[] = [
    keyColumn(),
    { id: 'reason', title: 'Why', width: '160px', cell: (row) => <Badge tone={row.reason === 'permanent_failure' ? 'bad' : 'warn'} title={row.reason}>{deadLetterMark(row.reason)}</Badge>, value: (row) => row.reason },
    { id: 'attempts', title: 'Attempts', width: '84px', end: true, cell: (row) => count(row.retryCount), value: (row) => row.retryCount },
    { id: 'since', title: 'Set aside', width: '96px', cell: (row) => <Time at={row.since} relative />, value: (row) => row.since ?? null },
    { id: 'next', title: 'Next probe', width: '96px', end: true, cell: (row) => <Show when={row.enabled} fallback={<span class="muted">disabled</span>}><Countdown at={row.nextRetry} /></Show>, value: (row) => row.nextRetry ?? null },
    ...errorColumns<DeadLetterEntry>(),
    {
      id: 'act',
      title: 'Acts',
      width: '78px',
      fixed: true,
      cell: (row) => (
        <span class="scheduler-acts">
          <Retry row={row} />
          <Button dense bare kind="quiet" icon="trash" label={`Remove the dead letter ${row.key}`} disabledReason={whyNot('manage')} onClick={() => props.onRemove([row.key])} />
        </span>
      ),
    },
  ];
  const chosen = (view: View<DeadLetterEntry>) => (view.selected().size > 0 ? [...view.selected()] : view.rows().map((row) => row.key));
  return (
    <FailureSection
      id="scheduler-letters"
      title="Dead letters"
      noun="dead letter"
      rows={props.rows}
      schema={kDeadFilter}
      filter="letters"
      placeholder="type:http* reason:permanent_failure text"
      columns={columns}
      onOpen={props.onOpen}
      none={{ title: 'No dead letters', text: 'What keeps failing, or fails for a reason that only a person can mend, is set aside here and probed now and then.' }}
      acts={(view) => (
        <>
          <Button
            kind={view.selected().size > 0 ? 'primary' : 'plain'}
            icon="refresh"
            disabledReason={nothing(view)}
            onClick={() => props.onRetry(view.selected().size === 0 && !view.filtered() ? { keys: [], all: true } : { keys: chosen(view) })}
          >
            {wordOf('Retry', view)}
          </Button>
          <Button kind="danger" icon="trash" disabledReason={nothing(view)} onClick={() => props.onRemove(chosen(view))}>{wordOf('Remove', view)}</Button>
        </>
      )}
      card={(row) => (
        <>
          <span class="row"><span class="mono cut">{row.key}</span><span class="spring" /><Retry row={row} /></span>
          <span class="muted small">{deadLetterMark(row.reason)}, {count(row.retryCount)} attempts, probe <Due at={row.nextRetry} /></span>
        </>
      )}
    />
  );
}
