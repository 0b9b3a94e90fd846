// The columns of the fleet table, and a target as a card where there is no room for columns.
import { For, onCleanup, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { kSeverities, kTargetStates } from '../../api/model';
import type { Headline } from '../../api/model';
import { AgeRing, Badge, Bar, Countdown, Sparkline, StateMark, Time } from '../../design';
import type { Column } from '../../design';
import { tick } from '../../logic/clock';
import { duration, measure, shortDuration } from '../../logic/format';
import { deadLetterMark } from '../../parts/dead_letter';
import { recentRuns } from '../../state/recent';
import { freshValues } from '../../state/values';
import type { Target } from '../../state/target';
import { href } from '../../app/router';

export const targetLink = (key: string) => href('/targets/:key', { key });
export const deviceLink = (name: string) => href('/devices/:name', { name });

const stateRank = (target: Target) => kTargetStates.indexOf(target.state);
const severityRank = (target: Target) => (target.severity === '' ? null : kSeverities.indexOf(target.severity));

/** Its values are older than its newest answer, which the age beside them is of. */
function OldValues(props: { target: Target }): JSX.Element {
  const age = () => props.target.headlineAge(tick());
  return (
    <Show when={age() !== null}>
      <span class="fleet-value-age" title={`These values are ${duration(Math.round(age() ?? 0))} old; those of the newest answer are not here yet`}>
        <span class="seen-by-readers">values </span>{shortDuration(Math.round(age() ?? 0))} old
      </span>
    </Show>
  );
}

function Values(props: { target: Target; values: readonly Headline[] }): JSX.Element {
  onCleanup(freshValues.want(props.target));
  return (
    <div class="fleet-values" classList={{ old: props.target.headlineAge(tick()) !== null && props.values.length > 0 }}>
      <For each={props.values}>
        {(one) => (
          <Show
            when={one.max !== undefined}
            fallback={<span class="fleet-value" title={`${one.name} ${measure(one.value, one.unit)}`}><span class="muted cut">{one.name}</span> <span>{measure(one.value, one.unit)}</span></span>}
          >
            <Bar value={one.value} max={one.max ?? 1} text={`${measure(one.value, one.unit)} ${one.name}`} title={`${one.name}: ${measure(one.value, one.unit)} of ${measure(one.max, one.unit)}`} />
          </Show>
        )}
      </For>
      <Show when={props.values.length > 0}><OldValues target={props.target} /></Show>
    </div>
  );
}

function Response(props: { target: Target }): JSX.Element {
  onCleanup(recentRuns.want(props.target));
  const words = () => {
    const seen = props.target.durations;
    if (seen.length === 0) return 'polls seen here are drawn as they come';
    return `last ${seen.length} polls, ${duration(Math.min(...seen))} to ${duration(Math.max(...seen))}`;
  };
  return (
    <div class="fleet-response">
      <Sparkline values={[...props.target.durations]} label={words()} width={40} />
      <span>{shortDuration(props.target.duration)}</span>
    </div>
  );
}

function Alerts(props: { target: Target }): JSX.Element {
  return (
    <Show when={props.target.severity} fallback={<span class="muted">–</span>}>
      {(severity) => (
        <Badge state={severity()} title={`${props.target.alerts} open${props.target.acknowledged ? ', all acknowledged' : ''}`}>
          {props.target.alerts > 1 ? `${severity()} ${props.target.alerts}` : severity()}{props.target.acknowledged ? ' ✓' : ''}
        </Badge>
      )}
    </Show>
  );
}

/** Why a target is in its state, as short as can be. */
export function reasonOf(target: Target): string {
  const parts = [];
  if (target.deadLetter !== '') parts.push(`dead letter (${deadLetterMark(target.deadLetter)})`);
  else if (target.breaker !== 'closed') parts.push(`breaker ${target.breaker.replaceAll('_', ' ')}`);
  if (target.problem !== '') parts.push(target.problem);
  return parts.join(': ');
}

export const kColumns: readonly Column<Target>[] = [
  { id: 'state', title: 'State', width: '118px', fixed: true, value: stateRank, cell: (t) => <StateMark state={t.state} /> },
  {
    id: 'device', title: 'Device', width: 'minmax(96px, 1.1fr)', fixed: true, value: (t) => t.device,
    cell: (t) => <a href={targetLink(t.key)} title={t.key}><strong class="fleet-device">{t.device}</strong></a>,
  },
  { id: 'addon', title: 'Addon', width: 'minmax(118px, 1fr)', value: (t) => t.addon, cell: (t) => <span title={t.addon}>{t.addon}</span> },
  { id: 'address', title: 'Address', width: '128px', value: (t) => t.address, cell: (t) => <span class="mono">{t.address}</span>, hidden: true },
  { id: 'values', title: 'Values', width: 'minmax(158px, 1.8fr)', help: 'Newest values', value: (t) => t.headline[0]?.value, cell: (t) => <Values target={t} values={t.headline} /> },
  { id: 'response', title: 'Response', width: '108px', end: true, help: 'Response time of the last polls', value: (t) => t.duration, cell: (t) => <Response target={t} /> },
  { id: 'age', title: 'Age', width: '74px', help: 'Age of the data against its bound', value: (t) => (t.lastSuccess === null ? null : -t.lastSuccess), cell: (t) => <AgeRing at={t.lastSuccess} expected={t.interval} bound={t.bound} /> },
  { id: 'interval', title: 'Every', width: '58px', end: true, help: 'Interval between polls', value: (t) => t.interval, cell: (t) => <span title={`now ${duration(t.interval)}, suggested ${duration(t.suggested)}`}>{shortDuration(t.interval)}</span> },
  { id: 'next', title: 'Next', width: '58px', end: true, help: 'Next poll', value: (t) => t.nextDue, cell: (t) => <Countdown at={t.state === 'disabled' ? null : t.nextDue} /> },
  { id: 'lag', title: 'Lag', width: '64px', end: true, help: 'Lag: start after it was due', value: (t) => t.lag, cell: (t) => <span classList={{ muted: (t.lag ?? 0) < 1 }}>{shortDuration(t.lag)}</span> },
  { id: 'alerts', title: 'Alerts', width: '106px', help: 'Open alerts', value: severityRank, cell: (t) => <Alerts target={t} /> },
  { id: 'problem', title: 'Why', width: 'minmax(130px, 2fr)', help: 'Why: breaker, dead letter, last error', value: (t) => reasonOf(t) || null, cell: (t) => <span class="muted" title={reasonOf(t)}>{reasonOf(t)}</span> },
  { id: 'since', title: 'Since', width: '96px', help: 'Since when it is in this state', value: (t) => t.since, cell: (t) => <Time at={t.since} relative none="–" />, hidden: true },
  { id: 'failures', title: 'Failures', width: '80px', end: true, help: 'Failures in a row', value: (t) => t.failures, cell: (t) => <span>{t.failures}</span>, hidden: true },
  { id: 'tier', title: 'Tier', width: '80px', value: (t) => t.tier, cell: (t) => <span>{t.tier}</span>, hidden: true },
  { id: 'groups', title: 'Groups', width: '140px', value: (t) => t.groups.join(' '), cell: (t) => <span title={t.groups.join(', ')}>{t.groups.join(', ')}</span>, hidden: true },
  { id: 'labels', title: 'Labels', width: '200px', cell: (t) => <span class="muted" title={labelText(t)}>{labelText(t)}</span>, hidden: true },
];

function labelText(target: Target): string {
  return Object.entries(target.labels).map(([name, value]) => `${name}=${value}`).join(' ');
}

export function targetCard(target: Target): JSX.Element {
  onCleanup(freshValues.want(target));
  return (
    <div class="fleet-card">
      <div class="fleet-card-line">
        <StateMark state={target.state} short />
        <strong class="cut">{target.device}</strong>
        <Show when={target.severity}>{(severity) => <Badge state={severity()} />}</Show>
        <span class="spring" />
        <AgeRing at={target.lastSuccess} expected={target.interval} bound={target.bound} />
      </div>
      <div class="fleet-card-line muted small">
        <span class="cut">{target.addon}{reasonOf(target) === '' ? '' : ` · ${reasonOf(target)}`}</span>
        <span class="spring" />
        {/* Why it is not well says more than the last value there was. */}
        <Show when={reasonOf(target) === '' ? target.headline[0] : undefined}>{(one) => <span>{one().name} {measure(one().value, one().unit)} <OldValues target={target} /></span>}</Show>
      </div>
    </div>
  );
}

/** Head of a group: its name and how its targets are. */
export function GroupHead(props: { name: string; rows: readonly Target[] }): JSX.Element {
  const counts = () => {
    const found = new Map<string, number>();
    for (const target of props.rows) found.set(target.state, (found.get(target.state) ?? 0) + 1);
    return kTargetStates.filter((state) => found.has(state)).map((state) => ({ state, number: found.get(state) ?? 0 }));
  };
  return (
    <>
      <span class="cut">{props.name === '' ? 'none' : props.name}</span>
      <For each={counts()}>{(one) => <StateMark state={one.state} word={`${one.number} ${one.state}`} size={11} />}</For>
    </>
  );
}
