import { createMemo, createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import type { Attention, AttentionKind } from '../../api/model';
import { href } from '../../app/router';
import { Badge, Button, Icon, StateMark, Time } from '../../design';
import type { IconName } from '../../design';
import { plural } from '../../logic/format';
import { targetOf } from '../../state/fleet_book';
import { grouped, someOf } from './attention';
import type { AttentionGroup } from './attention';

const kFirst = 6;
const kMostNamed = 20;

const kIcons: Record<AttentionKind, IconName> = {
  incident: 'incidents',
  dead_letter: 'trash',
  breaker: 'pause',
  stale: 'clock',
  observer: 'warning',
  store: 'warning',
  review: 'info',
};

const kWords: Record<AttentionKind, string> = {
  incident: 'incident',
  dead_letter: 'dead letter',
  breaker: 'breaker',
  stale: 'stale data',
  observer: 'Pollux itself',
  store: 'storage',
  review: 'to decide',
};

/** Where somebody goes to do something about it: the one, or all of them. */
export function placeOf(one: Attention): string {
  const key = one.key ?? '';
  const several = (filter: string) =>
    key.includes('::') && (one.count ?? 1) <= 1
      ? href('/targets/:key', { key: targetOf(key) })
      : href('/fleet', {}, { filter: key.includes('::') ? `${filter} addon:${key.split('::')[0] ?? ''}` : filter });
  switch (one.kind) {
    case 'incident':
      return key === '' ? href('/incidents') : href('/incidents/:id', { id: key });
    case 'dead_letter':
      return several('dead:*');
    case 'breaker':
      return several('breaker:open,half_open');
    case 'stale':
      return several('state:stale');
    case 'review':
      return href('/settings');
    default:
      return href('/scheduler');
  }
}

function linkOf(group: AttentionGroup): string {
  if (group.size === 1) return placeOf(group.first);
  const devices = group.devices.length <= kMostNamed && group.devices.every((name) => /^[\w.:-]+$/.test(name)) ? ` device:${group.devices.join(',')}` : '';
  return href('/incidents', {}, { filter: `severity:${group.first.severity}${devices}` });
}

export function AttentionList(props: { items: readonly Attention[] }): JSX.Element {
  const [all, setAll] = createSignal(false);
  const groups = createMemo(() => grouped(props.items));
  return (
    <Show
      when={props.items.length > 0}
      fallback={<div class="overview-calm"><StateMark state="up" word="Nothing needs attention" size={16} /><span class="muted">No open incident, no dead letter, all data fresh.</span></div>}
    >
      <ul class="overview-attention">
        <For each={all() ? groups() : groups().slice(0, kFirst)}>{(group) => <Line group={group} one={group.first} />}</For>
      </ul>
      <Show when={groups().length > kFirst}>
        <div class="overview-more"><Button dense kind="quiet" onClick={() => setAll(!all())}>{all() ? 'Show less' : `Show ${groups().length - kFirst} more`}</Button></div>
      </Show>
    </Show>
  );
}

function Line(props: { group: AttentionGroup; one: Attention }): JSX.Element {
  return (
    <li>
      <a href={linkOf(props.group)}>
        <span class="overview-kind" title={kWords[props.one.kind]}><Icon name={kIcons[props.one.kind]} /></span>
        <span class="overview-what">
          <strong>{props.group.title}</strong>
          <span class="muted"><Show when={props.group.size > 1} fallback={props.one.why}><Badge>{props.group.size} alike</Badge> {someOf(props.group.devices)}</Show></span>
        </span>
        <span class="overview-side">
          <StateMark state={props.one.severity} />
          <span class="muted small">
            <Show when={(props.one.count ?? 0) > 1 && props.group.size === 1}>{plural(props.one.count ?? 0, props.one.kind === 'incident' ? 'alert' : 'target')} · </Show>
            <Time at={props.one.since} relative none="" />
          </span>
        </span>
      </a>
    </li>
  );
}
