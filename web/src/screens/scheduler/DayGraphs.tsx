// What one class, region or worker did in the last 24 hours, beside what is healthy.
import { createMemo, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api } from '../../api/client';
import { Chart, Loaded } from '../../design';
import type { Series } from '../../design/Chart';
import { polled } from '../../state/polled';
import { explainLimit, kLimits } from './limits';
import type { Limit } from './limits';
import { curve, floorOf, steady } from './day';
import type { Day, QueuePoint, WorkerPoint } from './shapes';

interface DayProps<Point> {
  /** Of what: "snmp-system". */
  name: string;
  path: string;
  query: Record<string, string>;
  children: (points: () => readonly (Point & { time: number })[], step: () => number) => JSX.Element;
}

function DayOf<Point extends { at: string }>(props: DayProps<Point>): JSX.Element {
  const day = polled((signal) => api.get<Day<Point>>(props.path, { query: props.query, signal }), { key: () => JSON.stringify(props.query), every: 300_000 });
  return (
    <section class="panel" aria-label={`${props.name}, the last 24 hours`}>
      <h3 class="panel-head">{props.name} <span class="muted small">the last 24 hours, in steps of five minutes</span></h3>
      <Loaded data={day.data()} problem={day.problem()} retry={day.refresh} title="The last 24 hours could not be loaded" lines={6}>
        {(data) => {
          const points = createMemo(() => steady(data().points, data().step));
          return (
            <Show when={points().length > 0} fallback={<p class="muted panel-body">The first five minutes are not over yet.</p>}>
              <div class="scheduler-day">{props.children(points, () => data().step)}</div>
            </Show>
          );
        }}
      </Loaded>
    </section>
  );
}

function LimitChart(props: { label: string; group: string; unit: string; limit: Limit; min?: number; times: readonly number[]; series: readonly Series[] }): JSX.Element {
  return (
    <Chart
      label={props.label}
      group={props.group}
      unit={props.unit}
      height={150}
      times={props.times}
      series={props.series}
      {...(props.min === undefined ? {} : { min: props.min, max: 100 })}
      limit={{ healthy: props.limit.healthy * scaleOf(props.limit), warning: props.limit.warning * scaleOf(props.limit), words: explainLimit(props.limit) }}
    />
  );
}

/** Ratios are shown in percent. */
const scaleOf = (limit: Limit): number => (limit.unit === 'ratio' ? 100 : 1);

/** Of a class or a region: success, durations, runs. */
export function QueueDay(props: { name: string; path: string; query: Record<string, string> }): JSX.Element {
  return (
    <DayOf<QueuePoint> name={props.name} path={props.path} query={props.query}>
      {(points, step) => {
        const times = () => points().map((point) => point.time);
        const success = () => curve(points(), (point) => (point.success_ratio === undefined ? undefined : point.success_ratio * 100));
        return (
          <>
            <LimitChart label="Success" group="scheduler-day" unit="%" limit={kLimits.success} min={floorOf(success())} times={times()} series={[{ label: 'success', values: success() }]} />
            <LimitChart
              label="Duration of a poll"
              group="scheduler-day"
              unit="s"
              limit={kLimits.meanPoll}
              times={times()}
              series={[{ label: 'mean', values: curve(points(), (point) => point.mean) }, { label: 'p95', values: curve(points(), (point) => point.p95), color: 'series-2', dashed: true }]}
            />
            <Chart
              label="Runs per second"
              group="scheduler-day"
              unit="/s"
              height={150}
              times={times()}
              series={[
                { label: 'ended well', values: curve(points(), (point) => (point.finished - point.failed) / step()), color: 'series-3', area: true },
                { label: 'failed', values: curve(points(), (point) => point.failed / step()), color: 'bad' },
              ]}
            />
          </>
        );
      }}
    </DayOf>
  );
}

/** Of a worker: what it took of its core, and what it did. */
export function WorkerDay(props: { name: string }): JSX.Element {
  return (
    <DayOf<WorkerPoint> name={props.name} path="api/workers/history" query={{ name: props.name }}>
      {(points, step) => {
        const times = () => points().map((point) => point.time);
        return (
          <>
            <LimitChart label="Processor, share of a core" group="scheduler-day" unit="%" limit={kLimits.cpu} times={times()} series={[{ label: 'processor', values: curve(points(), (point) => point.cpu_share * 100) }]} />
            <Chart
              label="Done per second"
              group="scheduler-day"
              unit="/s"
              height={150}
              times={times()}
              series={[
                { label: 'done', values: curve(points(), (point) => point.completed / step()), color: 'series-3', area: true },
                { label: 'failed', values: curve(points(), (point) => point.failed / step()), color: 'bad' },
              ]}
            />
          </>
        );
      }}
    </DayOf>
  );
}
