// A time chart. Charts of one group show the same instant under the pointer and zoom together: drag to
// zoom in, double-click or Escape to see all again. By keyboard: arrows read, plus and minus zoom, Shift with
// arrows moves; what is read is told in words. A finger reads too.
import { batch, createEffect, createSignal, For, Index, on, onCleanup, onMount, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { chartKey, placeOf } from '../logic/chart_keys';
import type { Range } from '../logic/chart_keys';
import { markKinds, marksAt, markWords, signOf } from '../logic/chart_marks';
import type { ChartMark } from '../logic/chart_marks';
import { bothTimes } from '../logic/clock';
import { axisSteps, compact, measure } from '../logic/format';
import { theme, token } from './theme';
import './chart.css';

export interface Series {
  label: string;
  /** As many as `times`; null is a gap. */
  values: readonly (number | null)[];
  unit?: string;
  /** Name of a token without dashes, "series-2" or "bad"; by its place unless given. */
  color?: string;
  dashed?: boolean;
  area?: boolean;
  /** Holds each value until the next one: for states. */
  stepped?: boolean;
}

export type { ChartMark } from '../logic/chart_marks';

/** From where values are healthy, and from where they are a warning: grounds behind the curves. */
export interface ChartLimit {
  healthy: number;
  warning: number;
  /** "healthy above 99 %, warning below 95 %" */
  words: string;
}

export interface ChartProps {
  label: string;
  /** Seconds since the epoch, rising. */
  times: readonly number[];
  series: readonly Series[];
  /** Charts of the same name move together. */
  group?: string;
  unit?: string;
  height?: number;
  min?: number;
  max?: number;
  marks?: readonly ChartMark[];
  limit?: ChartLimit;
  empty?: string;
}

interface Group {
  zoom: () => Range | null;
  setZoom: (zoom: Range | null) => void;
  /** Seconds that somebody reads by keyboard or by finger; a mouse needs none. */
  reading: () => number | null;
  setReading: (at: number | null) => void;
  users: number;
}

const groups = new Map<string, Group>();

function join(name: string): Group {
  let group = groups.get(name);
  if (group === undefined) {
    const [zoom, setZoom] = createSignal<Range | null>(null);
    const [reading, setReading] = createSignal<number | null>(null);
    group = { zoom, setZoom: (next) => void setZoom(() => next), reading, setReading: (next) => void setReading(next), users: 0 };
    groups.set(name, group);
  }
  group.users += 1;
  return group;
}

// Days as the rest of the page writes them, hours from 0 to 24: step, text, and what goes below it at
// the first tick of a year, month, day.
const kDay = '\n{YYYY}-{MM}-{DD}';
const kTimes: uPlot.Axis.Values = [
  [31_536_000, '{YYYY}', null, null, null, null, null, null, 1],
  [2_419_200, '{YYYY}-{MM}', null, null, null, null, null, null, 1],
  [86_400, '{MM}-{DD}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, '{HH}:{mm}', kDay, null, kDay, null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', kDay, null, kDay, null, null, null, 1],
  [0.001, ':{ss}.{fff}', kDay, null, kDay, null, null, null, 1],
];

const kNowhere = { left: -10, top: -10 };

let alone = 0;

/** <Chart label="Response time" group={key} unit="s" times={times()} series={[{ label: 'p95', values }]} /> */
export function Chart(props: ChartProps): JSX.Element {
  const name = props.group ?? `alone ${alone++}`;
  const group = join(name);
  onCleanup(() => {
    group.users -= 1;
    if (group.users === 0) groups.delete(name);
  });
  const [hidden, setHidden] = createSignal<ReadonlySet<string>>(new Set());
  const [at, setAt] = createSignal<number | null>(null);
  const [shown, setShown] = createSignal<Range | null>(null);
  const [said, setSaid] = createSignal('');
  let box!: HTMLDivElement;
  let plot: uPlot | null = null;
  const empty = () => props.times.length === 0 || props.series.every((one) => one.values.every((value) => value === null));
  const colorOf = (one: Series, place: number) => token(one.color ?? `series-${(place % 7) + 1}`);
  const unitOf = (one: Series | undefined) => one?.unit ?? props.unit ?? '';
  const data = (): uPlot.AlignedData => [props.times as number[], ...props.series.map((one) => one.values as (number | null)[])];
  // What makes another plot; everything else is set on the one there is.
  const shape = () => `${theme()}|${props.series.map((one) => `${one.label} ${one.color} ${one.dashed} ${one.area} ${one.stepped}`).join('|')}|${props.min}|${props.max}|${props.unit}`;

  const options = (width: number): uPlot.Options => ({
    width,
    height: props.height ?? 180,
    cursor: { sync: { key: name, setSeries: false }, drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
    legend: { show: false },
    scales: { x: { time: true }, y: { range: (_, low, high) => rangeOf(low, high, props.min, props.max) } },
    series: [
      {},
      ...props.series.map((one, place) => ({
        label: one.label,
        stroke: colorOf(one, place),
        width: 1.6,
        show: !hidden().has(one.label),
        points: { show: props.times.length < 3 },
        ...(one.area ? { fill: `${colorOf(one, place)}22` } : {}),
        ...(one.dashed ? { dash: [5, 4] } : {}),
        ...(one.stepped && uPlot.paths.stepped ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
      })),
    ],
    axes: [{ ...axis(), values: kTimes }, { ...axis(), ...stepsOf(unitOf(props.series[0])), size: 74, values: (_, ticks) => axisTexts(ticks, unitOf(props.series[0])) }],
    hooks: {
      setCursor: [(self) => setAt(self.cursor.idx ?? null)],
      setScale: [
        (self, key) => {
          const { min, max } = self.scales['x'] ?? {};
          if (key !== 'x' || min == null || max == null) return;
          setShown([min, max]);
          placeCursor();
        },
      ],
      setSelect: [
        (self) => {
          if (self.select.width < 4) return;
          group.setZoom([self.posToVal(self.select.left, 'x'), self.posToVal(self.select.left + self.select.width, 'x')]);
          self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
      drawClear: [drawLimit],
      draw: [drawMarks],
    },
  });
  const drawLimit = (self: uPlot) => {
    const { ctx, bbox } = self;
    const limit = props.limit;
    const { min, max } = self.scales['y'] ?? {};
    if (limit === undefined || min == null || max == null) return;
    const edge = (value: number) => self.valToPos(Math.min(max, Math.max(min, value)), 'y', true);
    const high = limit.warning < limit.healthy;
    const ground = (from: number, to: number, color: string) => {
      ctx.fillStyle = token(color);
      const [top, bottom] = [edge(Math.max(from, to)), edge(Math.min(from, to))];
      ctx.fillRect(bbox.left, top, bbox.width, bottom - top);
    };
    ctx.save();
    ctx.globalAlpha = 0.6;
    ground(limit.healthy, high ? max : min, 'ok-soft');
    ground(limit.warning, high ? min : max, 'warn-soft');
    ctx.globalAlpha = 1;
    ctx.setLineDash([6, 4]);
    ctx.strokeStyle = token('warn');
    if (limit.warning > min && limit.warning < max) {
      ctx.beginPath();
      ctx.moveTo(bbox.left, edge(limit.warning));
      ctx.lineTo(bbox.left + bbox.width, edge(limit.warning));
      ctx.stroke();
    }
    ctx.restore();
  };
  const axis = (): uPlot.Axis => ({
    stroke: token('muted'),
    grid: { stroke: token('grid'), width: 1 },
    ticks: { stroke: token('grid'), width: 1, size: 4 },
    font: '11px system-ui, sans-serif',
    gap: 4,
  });
  const drawMarks = (self: uPlot) => {
    const { ctx, bbox } = self;
    ctx.save();
    for (const mark of props.marks ?? []) {
      const x = Math.round(self.valToPos(mark.at, 'x', true));
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      const color = token(mark.color ?? 'bad');
      ctx.strokeStyle = ctx.fillStyle = color;
      ctx.setLineDash([3, 3]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.setLineDash([]);
      sign(ctx, signOf(mark), x, bbox.top, 4 * devicePixelRatio);
    }
    ctx.restore();
  };
  const applyZoom = () => {
    const zoom = group.zoom();
    const first = props.times[0];
    const last = props.times[props.times.length - 1];
    if (plot === null || first === undefined || last === undefined) return;
    const [min, max] = zoom ?? [first, last > first ? last : first + 1];
    plot.setScale('x', { min, max });
  };

  /** What is read stays where it is in time, also when newer values come. */
  const placeCursor = () => {
    const time = group.reading();
    if (plot === null || time === null) return;
    const left = plot.valToPos(time, 'x');
    const inside = left >= 0 && left <= plot.over.clientWidth;
    plot.setCursor(inside ? { left, top: plot.over.clientHeight / 2 } : kNowhere);
  };

  onMount(() => {
    createEffect(
      on(shape, () => {
        plot?.destroy();
        plot = new uPlot(options(Math.max(120, box.clientWidth)), data(), box);
        plot.over.addEventListener('dblclick', () => group.setZoom(null));
        plot.over.addEventListener('pointerdown', readByFinger);
        plot.over.addEventListener('pointermove', readByFinger);
        applyZoom();
      }),
    );
    createEffect(() => {
      plot?.setData(data(), false);
      applyZoom();
      void props.marks;
      plot?.redraw(false);
    });
    createEffect(
      on(group.reading, (time, before) => {
        if (time !== null) placeCursor();
        else if (before != null && plot?.over.matches(':hover') !== true) plot?.setCursor(kNowhere);
      }),
    );
    createEffect(() => {
      const off = hidden();
      props.series.forEach((one, place) => plot?.setSeries(place + 1, { show: !off.has(one.label) }));
    });
    const watch = new ResizeObserver(() => {
      if (plot && box.clientWidth > 0) plot.setSize({ width: box.clientWidth, height: props.height ?? 180 });
    });
    watch.observe(box);
    onCleanup(() => {
      watch.disconnect();
      plot?.destroy();
      plot = null;
    });
  });

  const readable = (place: number) => props.series.some((one) => !hidden().has(one.label) && one.values[place] != null);
  const told = (place: number) => marksAt(props.marks ?? [], props.times, readable, place);
  const kinds = () => {
    const range = shown() ?? [props.times[0] ?? 0, props.times[props.times.length - 1] ?? 0];
    return markKinds(props.marks ?? [], range[0], range[1]);
  };
  const shownOf = (one: Series) => {
    const place = at();
    return place === null ? lastOf(one.values) : (one.values[place] ?? null);
  };
  const time = (place: number) => bothTimes((props.times[place] ?? 0) * 1000);
  const wordsAt = (place: number) => {
    const visible = props.series.filter((one) => !hidden().has(one.label));
    return `${time(place)}: ${visible.map((one) => `${one.label} ${measure(one.values[place], unitOf(one))}`).join(', ')}${markWords(told(place))}`;
  };
  const rangeWords = (range: Range) => `${bothTimes(range[0] * 1000)} to ${bothTimes(range[1] * 1000)}`;
  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const before = { at: group.reading(), zoom: group.zoom() };
    const step = chartKey(event.key, event.shiftKey, { times: props.times, has: readable, ...before });
    if (step === null) return;
    event.preventDefault();
    event.stopPropagation();
    batch(() => {
      group.setZoom(step.zoom);
      group.setReading(step.at);
    });
    if (step.at !== null && step.at !== before.at) setSaid(wordsAt(placeOf(props.times, step.at)));
    else setSaid(step.zoom === null ? 'All is shown' : `Shown: ${rangeWords(step.zoom)}`);
  };
  function readByFinger(event: PointerEvent) {
    if (event.pointerType !== 'touch' || plot === null) return;
    group.setReading(plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, 'x'));
  }
  const summary = () =>
    `${props.label}: ${props.series.map((one) => `${one.label} ${measure(lastOf(one.values), unitOf(one))}`).join(', ')}${props.limit ? `; ${props.limit.words}` : ''}`;
  return (
    <figure class="chart" aria-label={empty() ? `${props.label}: ${props.empty ?? 'no values yet'}` : summary()} onKeyDown={(event) => event.key === 'Escape' && group.setZoom(null)}>
      <div
        class="chart-plot"
        role="application"
        aria-roledescription="chart"
        aria-label={`${props.label}${group.zoom() && shown() ? `, from ${rangeWords(shown() as Range)}` : ''}. Arrow keys read values, plus and minus zoom, Shift with arrows moves, Escape shows all.`}
        aria-hidden={empty() ? true : undefined}
        tabindex={empty() ? undefined : 0}
        onKeyDown={keys}
        onBlur={() => group.setReading(null)}
      >
        <div ref={box} aria-hidden="true" />
      </div>
      <span class="seen-by-readers" aria-live="polite">{said()}</span>
      <Show when={empty()}><div class="chart-none">{props.empty ?? 'No values yet'}</div></Show>
      <Show when={!empty()}>
        <figcaption class="chart-legend">
          {/* By place: new values do not make the buttons anew, and the focus stays. */}
          <Index each={props.series}>
            {(one, place) => (
              <button type="button" aria-pressed={!hidden().has(one().label)} onClick={() => setHidden((before) => toggled(before, one().label))}>
                <span class="swatch" classList={{ dashed: one().dashed === true }} style={{ 'border-color': colorOf(one(), place) }} />
                <span>{one().label}</span>
                <span class="value">{measure(shownOf(one()), unitOf(one()))}</span>
              </button>
            )}
          </Index>
          <For each={kinds()}>
            {(kind) => <span class={`mark tone-${kind.color}`}><span aria-hidden="true">{signOf(kind)}</span> <span class="mark-word">{kind.label}{kind.count > 1 ? ` ×${kind.count}` : ''}</span></span>}
          </For>
          <Show when={props.limit}>{(limit) => <span class="limit">{limit().words}</span>}</Show>
          <span class="when">{at() === null ? '' : `${time(at() as number)}${told(at() as number).map((mark) => `, ${signOf(mark)} ${mark.label}`).join('')}`}</span>
          <Show when={group.zoom()}>
            <button type="button" class="when" onClick={() => group.setZoom(null)}>show all</button>
          </Show>
        </figcaption>
      </Show>
    </figure>
  );
}

/** The sign of a mark at the top of its line, so that it is told without its colour. */
function sign(ctx: CanvasRenderingContext2D, which: ReturnType<typeof signOf>, x: number, top: number, size: number): void {
  ctx.beginPath();
  if (which === '●') ctx.arc(x, top + size, size, 0, Math.PI * 2);
  else {
    ctx.moveTo(x - size, top);
    ctx.lineTo(x + size, top + 2 * size);
    ctx.moveTo(x + size, top);
    ctx.lineTo(x - size, top + 2 * size);
  }
  if (which === '●') ctx.fill();
  else {
    ctx.lineWidth = size / 2;
    ctx.stroke();
    ctx.lineWidth = 1;
  }
}

function stepsOf(unit: string): Pick<uPlot.Axis, 'incrs'> {
  const incrs = axisSteps(unit);
  return incrs === null ? {} : { incrs };
}

// Beside an axis there is little room: a long unit is left to the legend.
function axisTexts(ticks: readonly number[], unit: string): string[] {
  const whole = ticks.map((tick) => measure(tick, unit));
  return whole.every((text) => text.length <= 11) ? whole : ticks.map((tick) => compact(tick));
}

function rangeOf(low: number | null, high: number | null, min: number | undefined, max: number | undefined): [number, number] {
  const from = min ?? Math.min(0, low ?? 0);
  let to = max ?? high ?? 1;
  if (to <= from) to = from + 1;
  else if (max === undefined) to += (to - from) * 0.08;
  return [from, to];
}

function lastOf(values: readonly (number | null)[]): number | null {
  for (let place = values.length - 1; place >= 0; place -= 1) if (values[place] !== null) return values[place] ?? null;
  return null;
}

function toggled(before: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(before);
  if (!next.delete(name)) next.add(name);
  return next;
}
