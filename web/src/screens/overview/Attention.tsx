import { For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import type { Attention, AttentionKind } from '../../api/model';
import { href } from '../../app/router';
import { Icon, StateMark, Time } from '../../design';
import type { IconName } from '../../design';
import { plural } from '../../logic/format';
import { targetOf } from '../../state/fleet_book';

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

export function AttentionList(props: { items: readonly Attention[] }): JSX.Element {
  return (
    <Show
      when={props.items.length > 0}
      fallback={<div class="overview-calm"><StateMark state="up" word="Nothing needs attention" size={16} /><span class="muted">No open incident, no dead letter, all data fresh.</span></div>}
    >
      <ul class="overview-attention">
        <For each={props.items}>
          {(one) => (
            <li>
              <a href={placeOf(one)}>
                <span class="overview-kind" title={kWords[one.kind]}><Icon name={kIcons[one.kind]} /></span>
                <span class="overview-what">
                  <strong>{one.title}</strong>
                  <span class="muted">{one.why}</span>
                </span>
                <span class="overview-side">
                  <StateMark state={one.severity} />
                  <span class="muted small">
                    <Show when={(one.count ?? 0) > 1}>{plural(one.count ?? 0, one.kind === 'incident' ? 'alert' : 'target')} · </Show>
                    <Time at={one.since} relative none="" />
                  </span>
                </span>
              </a>
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}
