// One breaker or dead letter: what happened, in order, what it means, and what can be done.
import { For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { href } from '../../app/router';
import { Badge, Button, Dialog, StateMark, Time } from '../../design';
import { plural } from '../../logic/format';
import { kDeadLetterReasons } from '../../parts/dead_letter';
import { targetOf } from '../../state/fleet_book';
import { whyNot } from '../../state/session';
import { Due } from './Due';
import { words } from './keys';
import type { BreakerEntry, Change, DeadLetterEntry } from './shapes';

export type Failure = { kind: 'breaker'; entry: BreakerEntry } | { kind: 'dead_letter'; entry: DeadLetterEntry };

export function FailureDialog(props: { failure: Failure; onClose: () => void; onReset: () => void; onRetry: () => void; onRemove: () => void }): JSX.Element {
  const entry = () => props.failure.entry;
  const dead = () => (props.failure.kind === 'dead_letter' ? props.failure.entry : null);
  const breaker = () => (props.failure.kind === 'breaker' ? props.failure.entry : null);
  return (
    <Dialog
      title={entry().key}
      wide
      onClose={props.onClose}
      foot={
        <>
          <a class="button" href={href('/targets/:key', { key: targetOf(entry().key) })}>Open the target</a>
          <Show when={dead()}><Button kind="danger" icon="trash" disabledReason={whyNot('manage')} onClick={props.onRemove}>Remove</Button></Show>
          <Show when={dead()} fallback={<Button kind="primary" icon="refresh" disabledReason={whyNot('manage')} onClick={props.onReset}>Reset</Button>}>
            <Button kind="primary" icon="refresh" disabledReason={whyNot('manage')} onClick={props.onRetry}>Retry now</Button>
          </Show>
        </>
      }
    >
      <dl class="facts">
        <Show when={breaker()}>
          {(one) => (
            <>
              <dt>Breaker</dt><dd><StateMark state={one().state} /> <Show when={one().deadLetter}><Badge tone="bad">dead letter</Badge></Show></dd>
              <dt>Failures in a row</dt><dd>{one().failures}, since <Time at={one().firstFailureAt} /></dd>
              <dt>Next probe</dt><dd><Due at={one().retryAt} /></dd>
            </>
          )}
        </Show>
        <Show when={dead()}>
          {(one) => (
            <>
              <dt>Dead letter</dt><dd>{kDeadLetterReasons[one().reason]?.what ?? words(one().reason)} <code>{one().reason}</code></dd>
              <dt>Attempts that failed</dt><dd>{one().retryCount}, from <Time at={one().firstAttempt} /> to <Time at={one().lastAttempt} /></dd>
              <dt>Set aside</dt><dd><Time at={one().since} relative />; {plural(one().entries, 'time')} in all</dd>
              <dt>Next probe</dt><dd><Show when={one().enabled} fallback="none: the target is disabled"><Due at={one().nextRetry} /></Show></dd>
            </>
          )}
        </Show>
        <dt>Last error</dt><dd><span class="scheduler-error">{entry().lastError ?? '–'}</span> <Show when={entry().code}>{(code) => <code>{code()}</code>}</Show></dd>
        <Show when={kDeadLetterReasons[dead()?.reason ?? '']}>{(one) => <><dt>What to do</dt><dd>{one().advice}</dd></>}</Show>
      </dl>
      <section>
        <h3>What happened</h3>
        <Show when={entry().history.length > 0} fallback={<p class="muted">Nothing is kept of it.</p>}>
          <ol class="scheduler-story"><For each={entry().history}>{(change) => <li><ChangeLine change={change} /></li>}</For></ol>
        </Show>
      </section>
    </Dialog>
  );
}

function ChangeLine(props: { change: Change }): JSX.Element {
  return (
    <>
      <Time at={props.change.at} />
      <span class="muted">{words(props.change.kind)}</span>
      <span>{words(props.change.from ?? '')} → <strong>{words(props.change.to ?? '')}</strong></span>
      <Show when={props.change.failures > 0}><span class="muted small">after {plural(props.change.failures, 'failure')}</span></Show>
    </>
  );
}
