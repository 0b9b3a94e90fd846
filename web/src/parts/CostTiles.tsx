// What a target, or all of a device, costs: time and traffic of the last half to whole hour.
import { Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { Time } from '../design';
import { bytes, duration, percent, plural } from '../logic/format';
import { sumOf } from './costs';
import type { Costs } from './costs';
import './parts.css';

export function Tile(props: { title: string; value: string; note: JSX.Element }): JSX.Element {
  return (
    <div class="tile">
      <dt>{props.title}</dt>
      <dd><strong>{props.value}</strong><span class="muted small">{props.note}</span></dd>
    </div>
  );
}

/** Two tiles, inside of <dl class="tiles">. */
export function CostTiles(props: { costs: Costs }): JSX.Element {
  const sum = () => sumOf(props.costs.items);
  const since = () => <Show when={props.costs.since}>{(at) => <> since <Time at={at()} /></>}</Show>;
  return (
    <Show when={sum()} fallback={<Tile title="Cost" value="–" note={<>nothing ran{since()}</>} />}>
      {(one) => (
        <>
          <Tile title="Cost" value={percent(one().share, 2)} note={<>of the time of all polls; {duration(one().busy)} in {plural(one().runs, 'run')}{since()}</>} />
          <Tile title="Traffic" value={bytes(one().bytes)} note={`${plural(one().requests, 'request')}${one().failures > 0 ? `, ${plural(one().failures, 'failure')}` : ''}`} />
        </>
      )}
    </Show>
  );
}
