// What is fetched: a placeholder at first, the problem if there is nothing to show, and a line above what is
// shown when it could not be brought up to date.
import { Show } from 'solid-js';
import type { JSX } from 'solid-js';
import type { Problem } from '../api/problem';
import { Button } from './Button';
import { Icon } from './Icon';
import { ErrorState, Skeleton } from './States';
import './states.css';

/** <Loaded data={plan.data()} problem={plan.problem()} retry={plan.refresh}>{(plan) => <Plan plan={plan()} />}</Loaded> */
export function Loaded<T>(props: {
  data: T | undefined;
  problem: Problem | null;
  retry: () => unknown;
  lines?: number;
  title?: string;
  children: (data: () => T) => JSX.Element;
}): JSX.Element {
  return (
    <Show
      when={props.data !== undefined}
      fallback={
        <Show when={props.problem} fallback={<Skeleton lines={props.lines ?? 5} />}>
          {(problem) => <ErrorState problem={problem()} retry={() => void props.retry()} {...(props.title ? { title: props.title } : {})} />}
        </Show>
      }
    >
      <NotUpToDate problem={props.problem} retry={props.retry} />
      {props.children(() => props.data as T)}
    </Show>
  );
}

/** The line above what is shown and could not be brought up to date; nothing without a problem. */
export function NotUpToDate(props: { problem: Problem | null; retry: () => unknown }): JSX.Element {
  return (
    <Show when={props.problem}>
      {(problem) => (
        <div class="old-state" role="status">
          <Icon name="warning" />
          <span>Not up to date: {problem().message}</span>
          <Button dense kind="quiet" icon="refresh" onClick={() => void props.retry()}>Try again</Button>
        </div>
      )}
    </Show>
  );
}
