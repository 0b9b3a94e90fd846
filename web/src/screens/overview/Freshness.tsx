// How old the data of the whole fleet is, against how old each may be.
import { createMemo, For } from 'solid-js';
import type { JSX } from 'solid-js';
import { tick } from '../../logic/clock';
import { count, percent, plural, shortDuration } from '../../logic/format';
import { ageHistogram } from '../../logic/heat_grid';
import { fleet } from '../../state/fleet';

interface Ages {
  median: number | null;
  p95: number | null;
  over: number;
  known: number;
  histogram: number[];
}

function ages(now: number): Ages {
  const found: number[] = [];
  const shares: number[] = [];
  for (const target of fleet.targets()) {
    const age = target.age(now);
    if (age === null || target.state === 'disabled') continue;
    found.push(age);
    if (target.bound !== null && target.bound > 0) shares.push(age / target.bound);
  }
  found.sort((a, b) => a - b);
  const part = (share: number) => found[Math.min(found.length - 1, Math.floor(found.length * share))] ?? null;
  const histogram = ageHistogram(shares);
  return { median: part(0.5), p95: part(0.95), over: histogram[histogram.length - 1] ?? 0, known: found.length, histogram };
}

export function Freshness(): JSX.Element {
  // It is reckoned here and now, so that it goes on ageing when the connection is lost.
  const now = createMemo(() => (fleet.order(), ages(Math.floor(tick() / 2000) * 2000)));
  const most = () => Math.max(1, ...now().histogram);
  const word = (bucket: number) => (bucket === 10 ? 'past their bound' : `between ${bucket * 10} and ${bucket * 10 + 10} % of their bound`);
  return (
    <section class="panel" aria-labelledby="freshness">
      <header class="panel-head">
        <h2 id="freshness">Freshness</h2>
        <span class="muted small">age of the data against its bound</span>
      </header>
      <div class="panel-body overview-fresh ages">
        <dl class="overview-numbers">
          <div><dt>Fresh</dt><dd>{percent(now().known === 0 ? null : 1 - now().over / now().known)}</dd></div>
          <div><dt>Median age</dt><dd>{shortDuration(now().median)}</dd></div>
          <div><dt>95 % below</dt><dd>{shortDuration(now().p95)}</dd></div>
          <div><dt>Over bound</dt><dd classList={{ 'tone-stale overview-bad': now().over > 0 }}>{count(now().over)}</dd></div>
        </dl>
        <ol class="overview-bars" aria-label="Targets by age">
          <For each={now().histogram}>
            {(number, bucket) => (
              <li title={`${plural(number, 'target')} ${word(bucket())}`} classList={{ past: bucket() === 10 }}>
                <span class="bar-up" style={{ height: `${number === 0 ? 0 : Math.max(3, (number / most()) * 100)}%` }} />
                <span class="seen-by-readers">{`${plural(number, 'target')} ${word(bucket())}`}</span>
              </li>
            )}
          </For>
        </ol>
        <div class="overview-axis muted" aria-hidden="true"><span>new</span><span>half</span><span>bound</span><span>over</span></div>
      </div>
    </section>
  );
}
