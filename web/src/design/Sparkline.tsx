import { Show } from 'solid-js';
import type { JSX } from 'solid-js';
import './small.css';

/** The points as a path inside a box; one point is a flat line. Pure, for its test. */
export function sparkPath(values: readonly number[], width: number, height: number): string {
  if (values.length === 0) return '';
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const span = high - low;
  const y = (value: number) => (span === 0 ? height / 2 : height - 1 - ((value - low) / span) * (height - 2));
  if (values.length === 1) return `M0 ${round(y(values[0] as number))}H${width}`;
  const step = width / (values.length - 1);
  return values.map((value, index) => `${index === 0 ? 'M' : 'L'}${round(index * step)} ${round(y(value))}`).join('');
}

const round = (value: number) => Math.round(value * 10) / 10;

/** <Sparkline values={durations} label="last polls, 3 to 12 ms" /> */
export function Sparkline(props: { values: readonly number[]; label: string; width?: number; height?: number }): JSX.Element {
  const width = () => props.width ?? 72;
  const height = () => props.height ?? 18;
  const path = () => sparkPath(props.values, width(), height());
  return (
    <Show when={props.values.length > 0} fallback={<span class="muted" title={props.label}>·</span>}>
      <svg class="sparkline" width={width()} height={height()} viewBox={`0 0 ${width()} ${height()}`} role="img" aria-label={props.label}>
        <title>{props.label}</title>
        <path class="area" d={`${path()}V${height()}H0Z`} />
        <path d={path()} />
      </svg>
    </Show>
  );
}
