// A page about one object that keeps itself up to date: a placeholder, the problem, or that there is no such object
// (any more); and a line above it when it could not be brought up to date.
import { Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { EmptyState, ErrorState, Loaded, Skeleton } from '../design';
import type { Fetched } from './fetched';

export function ObjectPage<T>(props: {
  object: Fetched<T>;
  none: { title: string; text: string; link: string; linkText: string };
  children: (object: () => T) => JSX.Element;
}): JSX.Element {
  const gone = () => props.object.problem()?.status === 404;
  return (
    <Show
      when={props.object.data() !== undefined && !gone()}
      fallback={
        <div class="page">
          <Show when={props.object.problem()} fallback={<Skeleton lines={8} />}>
            {(problem) => (
              <Show when={gone()} fallback={<ErrorState problem={problem()} retry={props.object.refetch} />}>
                <EmptyState icon="search" title={props.none.title} text={props.none.text}><a class="button" href={props.none.link}>{props.none.linkText}</a></EmptyState>
              </Show>
            )}
          </Show>
        </div>
      }
    >
      <Loaded data={props.object.data()} problem={props.object.problem()} retry={props.object.refetch}>{(now) => props.children(now)}</Loaded>
    </Show>
  );
}
