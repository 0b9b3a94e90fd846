// How late starts were, over time: a column for each step, a row for each bucket of the lag, darker where
// more started. What is later than the limit has a colour and a row label of its own. The pointer or the
// arrow keys read a cell.
import { createEffect, createSignal, For, onCleanup, onMount, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { token } from '../../design';
import { bothTimes, localTime } from '../../logic/clock';
import { count, duration, percent } from '../../logic/format';
import { bucketLabel, bucketWords, isLate, lagQuantile, lateShare, mergedCounts, shade } from './lag';
import { kLimits } from './limits';
import type { SchedulerHistory } from './shapes';

const kRow = 17;

export function HeatMap(props: { history: SchedulerHistory }): JSX.Element {
  const [cell, setCell] = createSignal<{ point: number; bucket: number } | null>(null);
  const [width, setWidth] = createSignal(600);
  let canvas!: HTMLCanvasElement;
  const bounds = () => props.history.lag_bounds;
  const rows = () => bounds().length + 1;
  const points = () => props.history.points;
  const late = kLimits.startLag.warning;
  const from = () => Date.parse(points()[0]?.at ?? '') / 1000;
  const to = () => Date.parse(points()[points().length - 1]?.at ?? '') / 1000 + props.history.step;
  const x = (seconds: number) => ((seconds - from()) / Math.max(1, to() - from())) * width();

  createEffect(() => {
    const height = rows() * kRow;
    const scale = devicePixelRatio || 1;
    canvas.width = Math.round(width() * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
    const draw = canvas.getContext('2d');
    if (draw === null || points().length === 0) return;
    draw.scale(scale, scale);
    const most = props.history.lag_counts.reduce((high, row) => Math.max(high, ...row), 0);
    const usual = token('series-1');
    const bad = token('bad');
    const column = Math.max(1, x(from() + props.history.step) - 0.6);
    points().forEach((point, place) => {
      const left = x(Date.parse(point.at) / 1000);
      (props.history.lag_counts[place] ?? []).forEach((value, bucket) => {
        if (value === 0) return;
        draw.globalAlpha = shade(value, most);
        draw.fillStyle = isLate(bounds(), bucket, late) ? bad : usual;
        draw.fillRect(left, (rows() - 1 - bucket) * kRow + 1, column, kRow - 2);
      });
    });
    const now = cell();
    if (now === null) return;
    draw.globalAlpha = 1;
    draw.strokeStyle = token('text');
    draw.lineWidth = 1.5;
    draw.strokeRect(x(Date.parse(points()[now.point]?.at ?? '') / 1000) - 1, (rows() - 1 - now.bucket) * kRow, Math.max(4, column + 2), kRow);
  });

  onMount(() => {
    const watch = new ResizeObserver(() => canvas.clientWidth > 0 && setWidth(canvas.clientWidth));
    watch.observe(canvas);
    onCleanup(() => watch.disconnect());
  });

  const at = (event: PointerEvent) => {
    const box = canvas.getBoundingClientRect();
    const seconds = from() + ((event.clientX - box.left) / box.width) * (to() - from());
    let point = 0;
    points().forEach((one, place) => {
      if (Date.parse(one.at) / 1000 <= seconds) point = place;
    });
    const bucket = Math.max(0, Math.min(rows() - 1, rows() - 1 - Math.floor((event.clientY - box.top) / kRow)));
    setCell({ point, bucket });
  };
  const keys = (event: KeyboardEvent) => {
    const moves: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const move = moves[event.key];
    if (event.key === 'Escape') setCell(null);
    if (move === undefined) return;
    event.preventDefault();
    const now = cell() ?? { point: points().length, bucket: 0 };
    setCell({
      point: Math.max(0, Math.min(points().length - 1, now.point + move[0])),
      bucket: Math.max(0, Math.min(rows() - 1, now.bucket + move[1])),
    });
  };
  const all = () => mergedCounts(props.history.lag_counts);
  const summary = () => {
    const share = lateShare(bounds(), all(), late);
    if (share === null) return 'nothing started in this time';
    return `p50 ${duration(lagQuantile(bounds(), all(), 0.5))}, p95 ${duration(lagQuantile(bounds(), all(), 0.95))}, later than ${duration(late)}: ${percent(share, 2)}`;
  };
  const words = () => {
    const now = cell();
    const at = Date.parse(points()[now?.point ?? -1]?.at ?? '');
    if (now === null || Number.isNaN(at)) return `Whole time: ${summary()}`;
    const counts = props.history.lag_counts[now.point] ?? [];
    const sum = counts.reduce((total, value) => total + value, 0);
    return `${bothTimes(at)}: ${count(counts[now.bucket] ?? 0)} of ${count(sum)} starts were ${bucketWords(bounds(), now.bucket)} late; p95 ${duration(lagQuantile(bounds(), counts, 0.95))}`;
  };
  const ticks = () => {
    const number = width() < 420 ? 3 : 5;
    return Array.from({ length: number }, (_, place) => localTime((from() + ((to() - from()) * place) / (number - 1)) * 1000).slice(-8, -3));
  };
  return (
    <div class="scheduler-heat" role="group" aria-label={`Start lag over time: ${summary()}`}>
      <Show when={points().length > 0} fallback={<p class="muted panel-body">Nothing started yet.</p>}>
        <div class="scheduler-heat-grid">
          <div class="scheduler-heat-rows" aria-hidden="true">
            <For each={Array.from({ length: rows() }, (_, place) => rows() - 1 - place)}>
              {(bucket) => <span classList={{ late: isLate(bounds(), bucket, late) }}>{bucketLabel(bounds(), bucket)}{isLate(bounds(), bucket, late) ? ' !' : ''}</span>}
            </For>
          </div>
          <canvas
            ref={canvas}
            tabindex={0}
            role="img"
            aria-label={`Heat map of the start lag. ${summary()}. Arrow keys read single cells.`}
            onPointerMove={at}
            onPointerLeave={() => setCell(null)}
            onKeyDown={keys}
            onBlur={() => setCell(null)}
          />
          <div class="scheduler-heat-times muted" aria-hidden="true"><For each={ticks()}>{(text) => <span>{text}</span>}</For></div>
        </div>
        <p class="scheduler-heat-words small" aria-live="polite">{words()}</p>
      </Show>
    </div>
  );
}
