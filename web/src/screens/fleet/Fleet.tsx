// All targets, live: dense rows, filter, groups, acts on many.
import { createEffect, createMemo, createSignal, For, onCleanup, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { navigate, query, setQuery } from '../../app/router';
import { useKeys } from '../../app/keys';
import { kTargetStates } from '../../api/model';
import { Button, EmptyState, FilterInput, Loaded, Menu, StateMark, Table } from '../../design';
import { compileFilter, parseFilter, toggleTerm, tokens } from '../../logic/filter';
import { count, plural } from '../../logic/format';
import { SilenceDialog } from '../../parts/SilenceDialog';
import { fleet } from '../../state/fleet';
import type { Target } from '../../state/target';
import { may, whyNot } from '../../state/session';
import { act, kMostSilenced, matchersFor } from './acts';
import type { Act } from './acts';
import { GroupHead, kColumns, targetCard, targetLink } from './columns';
import { groupings, kFilterNames, kFleetFilter } from './filter';
import { openStart } from '../../state/start';
import './fleet.css';

export default function Fleet(): JSX.Element {
  const [selected, setSelected] = createSignal<ReadonlySet<string>>(new Set());
  const [silencing, setSilencing] = createSignal(false);
  const [busy, setBusy] = createSignal<Act | null>(null);
  const [sortedBy, setSortedBy] = createSignal<string>();
  createEffect(() => sortedBy() === 'values' && onCleanup(fleet.followValues()));

  const wanted = createMemo(() => compileFilter(parseFilter(query('filter'), kFilterNames), kFleetFilter));
  const rows = createMemo<readonly Target[]>(() => {
    fleet.order();
    const all = fleet.targets();
    return query('filter').trim() === '' ? all : all.filter(wanted());
  });
  const grouping = createMemo(() => groupings().find((one) => one.id === query('group')));
  // Only what is still there: a target that is gone is not acted on.
  const keys = createMemo(() => [...selected()].filter((key) => fleet.find(key) !== undefined));

  const run = async (op: Act) => {
    if (keys().length === 0 || busy() !== null || whyNot('operate') !== undefined) return;
    setBusy(op);
    await act(op, keys());
    setBusy(null);
  };
  const silence = () => keys().length > 0 && keys().length <= kMostSilenced && may('operate') && setSilencing(true);
  useKeys('Fleet', {
    p: ['Poll what is selected now', () => void run('poll')],
    s: ['Silence what is selected', () => void silence()],
    a: ['Add a device', () => may('manage') && openStart('add')],
    Escape: ['Select nothing', () => setSelected(new Set<string>())],
  });

  const stateTerm = (state: string) => tokens(query('filter')).some((token) => token.text === `state:${state}`);
  return (
    <div class="page fill">
      <div class="page-head">
        <h1>Fleet</h1>
        <div class="fleet-states" role="group" aria-label="Show only">
          <For each={kTargetStates}>
            {(state) => (
              <Button
                dense
                pressed={stateTerm(state)}
                class={fleet.counts()[state] === 0 ? 'none' : ''}
                onClick={() => setQuery({ filter: toggleTerm(query('filter'), `state:${state}`) })}
              >
                <StateMark state={state} /> <strong>{count(fleet.counts()[state])}</strong>
              </Button>
            )}
          </For>
        </div>
        <span class="spring" />
        <Menu
          icon="plus"
          align="end"
          entries={() => [
            { label: 'Add a device', icon: 'plus', disabledReason: whyNot('manage'), hint: 'a', run: () => openStart('add') },
            { label: 'Look for devices in a network', icon: 'search', disabledReason: whyNot('operate'), run: () => openStart('discover') },
          ]}
        >
          Add
        </Menu>
      </div>
      <div class="fleet-tools">
        <FilterInput label="Filter targets" schema={kFleetFilter} value={query('filter')} onInput={(filter) => setQuery({ filter })} />
        <label class="fleet-group">
          Group by
          <select class="input" value={query('group')} onChange={(event) => setQuery({ group: event.currentTarget.value })}>
            <option value="">nothing</option>
            <For each={groupings()}>{(one) => <option value={one.id} selected={one.id === query('group')}>{one.title}</option>}</For>
          </select>
        </label>
      </div>
      <Show when={keys().length > 0}>
        <div class="fleet-chosen" role="region" aria-label="Selected targets">
          <strong>{plural(keys().length, 'target')} selected</strong>
          <Button dense icon="play" busy={busy() === 'poll'} disabledReason={whyNot('operate')} onClick={() => void run('poll')}>Poll now</Button>
          <Button
            dense
            icon="silence"
            disabledReason={whyNot('operate') ?? (keys().length > kMostSilenced ? `At most ${kMostSilenced} at once: silence a group or a label instead.` : undefined)}
            onClick={() => silence()}
          >
            Silence
          </Button>
          <Button dense busy={busy() === 'enable'} disabledReason={whyNot('operate')} onClick={() => void run('enable')}>Enable</Button>
          <Button dense kind="danger" busy={busy() === 'disable'} disabledReason={whyNot('operate')} onClick={() => void run('disable')}>Disable</Button>
          <Button dense kind="quiet" icon="close" onClick={() => setSelected(new Set<string>())}>Select nothing</Button>
        </div>
      </Show>
      <Loaded data={fleet.loaded() || undefined} problem={fleet.problem()} retry={fleet.refresh} lines={12}>
        {() => (
          <Table
            id="fleet"
            label="Targets"
            noun="target"
            columns={kColumns}
            rows={rows()}
            rowKey={(target) => target.key}
            track={(target) => target.track()}
            order={fleet.order}
            sort={{ column: 'device', descending: false }}
            onSort={setSortedBy}
            groups={grouping()?.read}
            groupHead={(name, members) => <GroupHead name={name} rows={members} />}
            onOpen={(target) => navigate(targetLink(target.key))}
            selected={selected()}
            onSelect={setSelected}
            card={targetCard}
            cardHeight={58}
            total={fleet.targets().length}
            empty={
              <Show
                when={fleet.targets().length > 0}
                fallback={<EmptyState icon="fleet" title="No targets yet" text="A target is a device with an addon that says how it is polled."><Button kind="primary" icon="plus" onClick={() => openStart('add')} disabledReason={whyNot('manage')}>Add the first device</Button></EmptyState>}
              >
                <EmptyState icon="search" title="No target is like this" text="Nothing matches the filter."><Button onClick={() => setQuery({ filter: '' })}>Show all</Button></EmptyState>
              </Show>
            }
          />
        )}
      </Loaded>
      <Show when={silencing()}><SilenceDialog chosen about={plural(keys().length, 'target')} scopes={[{ label: 'The targets', matchers: matchersFor(keys()) }]} onClose={() => setSilencing(false)} onDone={() => setSelected(new Set<string>())} /></Show>
    </div>
  );
}
