// Keeps what is shown of jobs up to date: the server tells when a job ends, and what happens before
// (started, waiting, progress) is asked for while something is still under way.
import { onCleanup } from 'solid-js';
import { live } from '../../api/live';
import type { TaskStateData } from '../../api/model';
import { jobOfKey } from './model';

const kSettle = 250;
const kEvery = 2500;
/** For `fetched`: an act shows its result at once. */
export const kSoonest = 250;

/** `touched` gets the ids of jobs that changed, or null: everything may have. */
export function watchJobs(touched: (ids: ReadonlySet<string> | null) => void, underWay: () => boolean): void {
  let changed = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    const ids = changed;
    changed = new Set();
    touched(ids);
  };
  onCleanup(
    live.on<TaskStateData>(['job_changed'], (events) => {
      for (const event of events) {
        const id = jobOfKey(event.key ?? '');
        if (id !== null) changed.add(id);
      }
      timer ??= setTimeout(flush, kSettle);
    }),
  );
  onCleanup(live.onResync(() => touched(null)));
  const ask = setInterval(() => {
    if (document.visibilityState === 'visible' && (live.connection().state === 'live' || live.connection().state === 'asking') && underWay()) touched(null);
  }, kEvery);
  onCleanup(() => {
    clearTimeout(timer);
    clearInterval(ask);
  });
}
