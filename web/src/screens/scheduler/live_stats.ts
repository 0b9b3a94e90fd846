// The counters of the scheduler as events tell them, with rates made of them.
import { createSignal, onCleanup } from 'solid-js';
import { live } from '../../api/live';
import type { SchedulerStatsData } from '../../api/model';
import { RateMeter } from './rate';

const kKept = 60;

export interface LiveStats {
  now: () => SchedulerStatsData | null;
  startRate: () => number | null;
  finishRate: () => number | null;
  /** The last minute, oldest first. */
  past: () => readonly SchedulerStatsData[];
}

export function liveStats(): LiveStats {
  const starts = new RateMeter();
  const ends = new RateMeter();
  const [past, setPast] = createSignal<readonly SchedulerStatsData[]>([]);
  const [startRate, setStartRate] = createSignal<number | null>(null);
  const [finishRate, setFinishRate] = createSignal<number | null>(null);
  onCleanup(
    live.on<SchedulerStatsData>(['scheduler_stats'], (events) => {
      for (const event of events) {
        starts.add(Date.parse(event.at), event.data.started);
        ends.add(Date.parse(event.at), event.data.finished);
      }
      setStartRate(starts.rate());
      setFinishRate(ends.rate());
      setPast((before) => [...before, ...events.map((event) => event.data)].slice(-kKept));
    }),
  );
  const now = () => past()[past().length - 1] ?? null;
  return { now, startRate, finishRate, past };
}
