// The whole fleet at one look: a cell per target. What is not well has its own drawing beside its
// colour. Pointer or arrows choose a cell, its name stands below, Enter or a click opens it.
import { createEffect, createMemo, createSignal, onCleanup, onMount, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { href, navigate } from '../../app/router';
import { kTargetStates } from '../../api/model';
import type { TargetState } from '../../api/model';
import { AgeRing, StateMark, theme, token, toneOf } from '../../design';
import { cellAt, gridFor, step } from '../../logic/heat_grid';
import { naturally } from '../../logic/table_rows';
import { fleet } from '../../state/fleet';
import type { Target } from '../../state/target';

const kHeight = 208;

export function HeatMap(): JSX.Element {
  const [width, setWidth] = createSignal(600);
  const [at, setAt] = createSignal(-1);
  let canvas!: HTMLCanvasElement;
  let box!: HTMLDivElement;
  // By device, so that a target stays where it was; its state is what changes.
  const cells = createMemo<readonly Target[]>(() => [...fleet.targets()].sort((a, b) => naturally(a.device, b.device) || naturally(a.addon, b.addon)));
  const grid = createMemo(() => gridFor(cells().length, width(), kHeight));
  const chosen = () => (fleet.order(), cells()[at()]);

  onMount(() => {
    const watch = new ResizeObserver(() => setWidth(Math.max(100, box.clientWidth)));
    watch.observe(box);
    onCleanup(() => watch.disconnect());
  });
  createEffect(() => {
    fleet.states();
    theme();
    draw(canvas, cells(), grid(), width(), at());
  });

  const open = (target: Target | undefined) => target && navigate(href('/targets/:key', { key: target.key }));
  const under = (event: MouseEvent) => {
    const frame = canvas.getBoundingClientRect();
    return cellAt(grid(), cells().length, event.clientX - frame.left, event.clientY - frame.top);
  };
  return (
    <div ref={box} class="overview-heat">
      <canvas
        ref={canvas}
        tabindex={0}
        role="img"
        aria-label={`Heat map of ${cells().length} targets; arrow keys choose one, Enter opens it`}
        aria-describedby="heat-chosen"
        onMouseMove={(event) => setAt(under(event))}
        onMouseLeave={() => setAt(-1)}
        onClick={(event) => open(cells()[under(event)])}
        onFocus={() => at() < 0 && setAt(0)}
        onBlur={() => setAt(-1)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') open(chosen());
          else {
            const to = at() < 0 ? (event.key.startsWith('Arrow') && cells().length > 0 ? 0 : -1) : step(grid(), cells().length, at(), event.key);
            if (to === at()) return; // not a key of ours, such as Tab
            setAt(to);
          }
          event.preventDefault();
        }}
      />
      <div class="overview-chosen" id="heat-chosen" aria-live="polite">
        <Show
          when={chosen()}
          fallback={<span class="muted small">One cell per target, by device. Point at one, or walk with the arrow keys.</span>}
        >
          {(target) => (
            <>
              <StateMark state={target().state} />
              <strong class="cut">{target().key}</strong>
              <AgeRing at={target().lastSuccess} expected={target().interval} bound={target().bound} />
              <span class="muted cut">{target().problem}</span>
            </>
          )}
        </Show>
      </div>
    </div>
  );
}

function draw(canvas: HTMLCanvasElement, cells: readonly Target[], grid: ReturnType<typeof gridFor>, width: number, at: number): void {
  const scale = devicePixelRatio || 1;
  const height = Math.max(1, grid.rows) * grid.cell;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.scale(scale, scale);
  const colors = new Map(kTargetStates.map((state) => [state, token(toneOf(state))]));
  const ground = token('surface');
  const gap = grid.cell > 9 ? 2 : 1;
  cells.forEach((target, place) => {
    const x = (place % grid.columns) * grid.cell;
    const y = Math.floor(place / grid.columns) * grid.cell;
    cell(context, target.state, x, y, grid.cell - gap, colors.get(target.state) ?? '#888', ground);
  });
  if (at < 0 || at >= cells.length) return;
  context.strokeStyle = token('text');
  context.lineWidth = 2;
  context.strokeRect((at % grid.columns) * grid.cell - 0.5, Math.floor(at / grid.columns) * grid.cell - 0.5, grid.cell - gap + 1, grid.cell - gap + 1);
}

// Well: a plain cell, pale. Everything else has a drawing of its own, so that it is told without colour.
function cell(context: CanvasRenderingContext2D, state: TargetState, x: number, y: number, size: number, color: string, ground: string): void {
  const middle = size / 2;
  context.fillStyle = color;
  context.strokeStyle = color;
  context.lineWidth = Math.max(1, size / 8);
  context.beginPath();
  switch (state) {
    case 'up':
      context.globalAlpha = 0.42;
      context.fillRect(x, y, size, size);
      context.globalAlpha = 1;
      return;
    case 'down':
      context.fillRect(x, y, size, size);
      context.strokeStyle = ground;
      context.moveTo(x + size * 0.28, y + size * 0.28);
      context.lineTo(x + size * 0.72, y + size * 0.72);
      context.moveTo(x + size * 0.72, y + size * 0.28);
      context.lineTo(x + size * 0.28, y + size * 0.72);
      context.stroke();
      return;
    case 'degraded':
      context.moveTo(x, y + size);
      context.lineTo(x + size, y);
      context.lineTo(x + size, y + size);
      context.fill();
      context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
      return;
    case 'stale':
    case 'unreachable':
      context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
      context.arc(x + middle, y + middle, size * 0.22, 0, Math.PI * 2);
      if (state === 'stale') context.stroke();
      else context.fill();
      return;
    default:
      context.globalAlpha = state === 'disabled' ? 0.35 : 0.8;
      context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
      context.globalAlpha = 1;
  }
}
