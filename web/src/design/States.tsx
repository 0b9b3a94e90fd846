import { For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import type { Problem } from '../api/problem';
import { sentence } from '../logic/format';
import { Button } from './Button';
import { Icon } from './Icon';
import type { IconName } from './Icon';
import './states.css';

/** <EmptyState icon="fleet" title="No targets yet" text="Add a device…"><Button …/></EmptyState> */
export function EmptyState(props: { icon?: IconName; title: string; text?: string; children?: JSX.Element }): JSX.Element {
  return (
    <div class="empty-state">
      <span class="mark"><Icon name={props.icon ?? 'info'} size={22} /></span>
      <h2>{props.title}</h2>
      <Show when={props.text}><p>{props.text}</p></Show>
      <div class="row">{props.children}</div>
    </div>
  );
}

/** <ErrorState problem={problem} retry={refetch} />: what failed, why, and what to do. */
export function ErrorState(props: { problem: Problem; retry?: () => void; title?: string }): JSX.Element {
  const title = () => props.title ?? (props.problem.offline ? 'The server cannot be reached' : 'This could not be loaded');
  return (
    <div class="error-state" role="alert">
      <span class="mark"><Icon name="warning" size={22} /></span>
      <h2>{title()}</h2>
      <p>{sentence(props.problem.message)}</p>
      <Show when={props.problem.errors.length > 0}>
        <ul><For each={props.problem.errors}>{(one) => <li><code>{one.pointer ?? one.parameter}</code> {one.detail}</li>}</For></ul>
      </Show>
      <Show when={props.problem.requestId}>
        {(id) => <p class="small">Request <code>{id()}</code>, {props.problem.code}: the log of the server has more.</p>}
      </Show>
      <Show when={props.retry}>{(retry) => <Button icon="refresh" onClick={() => retry()()}>Try again</Button>}</Show>
    </div>
  );
}

/** <Skeleton lines={6} /> while something is being fetched. */
export function Skeleton(props: { lines?: number }): JSX.Element {
  return (
    <div class="skeleton" role="status" aria-busy="true" aria-label="Loading">
      <For each={Array.from({ length: props.lines ?? 5 })}>{() => <span />}</For>
    </div>
  );
}
