// The catalogue of addons: what can be read, and what reads it.
import { createMemo, createSignal, For, onCleanup } from 'solid-js';
import type { JSX } from 'solid-js';
import { href, navigate, query, setQuery } from '../../app/router';
import { useKeys } from '../../app/keys';
import { allItems } from '../../api/client';
import { live } from '../../api/live';
import { Badge, Button, EmptyState, FilterInput, Loaded, StateMark, Table } from '../../design';
import type { Column } from '../../design';
import { compileFilter, parseFilter, toggleTerm } from '../../logic/filter';
import type { FilterSchema } from '../../logic/filter';
import { count, shortDuration } from '../../logic/format';
import { fetched } from '../../parts/fetched';
import { whyNot } from '../../state/session';
import { kOriginWords } from './model';
import type { AddonRow } from './model';
import './addons.css';

interface AddonStatus {
  targets: number;
  failing: number;
  dead_letters: number;
}

export default function Addons(): JSX.Element {
  const addons = fetched(() => 'addons', (_, signal) => allItems<AddonRow>('api/addons', {}, 5000, signal));
  const [status, setStatus] = createSignal<ReadonlyMap<string, AddonStatus>>(new Map());
  onCleanup(
    live.on<AddonStatus>(['addon_status'], (events) => {
      const next = new Map(status());
      for (const event of events) if (event.key !== undefined) next.set(event.key, event.data);
      setStatus(next);
    }),
  );
  const values = (read: (addon: AddonRow) => string | undefined) => [...new Set((addons.data() ?? []).flatMap((addon) => read(addon) ?? []))].sort();
  const schema: FilterSchema<AddonRow> = {
    fields: [
      { name: 'protocol', help: 'how it asks or hears', kind: 'word', read: (addon) => addon.protocol, values: () => values((addon) => addon.protocol) },
      { name: 'category', help: 'what it is about', kind: 'word', read: (addon) => addon.category, values: () => values((addon) => addon.category) },
      { name: 'origin', help: 'where it comes from', kind: 'word', read: (addon) => addon.origin, values: () => Object.keys(kOriginWords) },
      { name: 'enabled', help: 'whether its targets are polled', kind: 'word', read: (addon) => String(addon.enabled), values: () => ['true', 'false'] },
      { name: 'targets', help: 'how many use it', kind: 'number', read: (addon) => addon.targets },
    ],
    text: (addon) => `${addon.name} ${addon.title} ${addon.description}`,
  };
  const filterText = () => query('filter');
  const rows = createMemo(() => (addons.data() ?? []).filter(compileFilter(parseFilter(filterText(), schema.fields.map((field) => field.name)), schema)));
  const own = columns(status);
  const open = (addon: AddonRow) => navigate(href('/addons/:name', { name: addon.name }));
  useKeys('Addons', { n: ['New addon', () => navigate(href('/addons/new'))] });
  return (
    <div class="page fill addons-page">
      <div class="page-head">
        <h1>Addons</h1>
        <span class="spring" />
        <Button kind="primary" icon="plus" disabledReason={whyNot('manage')} onClick={() => navigate(href('/addons/new'))}>New addon</Button>
      </div>
      <FilterInput label="Filter addons" schema={schema} value={filterText()} onInput={(filter) => setQuery({ filter })} placeholder="protocol:snmp category:power targets>0 text" />
      <div class="row" role="group" aria-label="Quick filters">
        <Button dense pressed={filterText().includes('targets>0')} onClick={() => setQuery({ filter: toggleTerm(filterText(), 'targets>0') })}>in use</Button>
        <For each={values((addon) => addon.category)}>
          {(category) => <Button dense pressed={filterText().split(/\s+/).includes(`category:${category}`)} onClick={() => setQuery({ filter: oneCategory(filterText(), category) })}>{category}</Button>}
        </For>
      </div>
      <Loaded data={addons.data()} problem={addons.problem()} retry={addons.refetch} lines={8}>
        {() => (
          <Table
            id="addons"
            label="Addons"
            noun="addon"
            columns={own}
            rows={rows()}
            rowKey={(addon) => addon.name}
            order={status}
            sort={{ column: 'name', descending: false }}
            onOpen={open}
            card={(addon) => <Card addon={addon} />}
            cardHeight={62}
            empty={<EmptyState icon="addons" title="No addon is like this"><Button onClick={() => setQuery({ filter: '' })}>Clear the filter</Button></EmptyState>}
          />
        )}
      </Loaded>
    </div>
  );
}

function oneCategory(text: string, category: string): string {
  const term = `category:${category}`;
  const words = text.split(/\s+/).filter((word) => word !== '');
  const others = words.filter((word) => !/^category:/.test(word));
  return words.includes(term) ? others.join(' ') : [...others, term].join(' ');
}

function columns(status: () => ReadonlyMap<string, AddonStatus>): readonly Column<AddonRow>[] {
  return [
    { id: 'name', title: 'Addon', width: 'minmax(150px, 1fr)', fixed: true, cell: (addon) => <a href={href('/addons/:name', { name: addon.name })}>{addon.name}</a>, value: (addon) => addon.name },
    { id: 'title', title: 'Reads', width: 'minmax(220px, 3fr)', cell: (addon) => <span title={addon.description}>{addon.title}</span>, value: (addon) => addon.title },
    { id: 'state', title: 'State', width: '112px', cell: (addon) => <AddonState addon={addon} />, value: (addon) => Number(!addon.enabled) },
    { id: 'protocol', title: 'Protocol', width: '94px', cell: (addon) => addon.protocol, value: (addon) => addon.protocol },
    { id: 'category', title: 'Category', width: '112px', cell: (addon) => addon.category ?? '', value: (addon) => addon.category },
    { id: 'targets', title: 'Targets', width: '84px', end: true, cell: (addon) => count(addon.targets), value: (addon) => addon.targets },
    {
      id: 'failing', title: 'Failing', width: '84px', end: true, help: 'Targets whose last poll failed',
      cell: (addon) => { const now = status().get(addon.name); return now === undefined ? '' : <span classList={{ 'addons-bad': now.failing > 0 }}>{count(now.failing)}</span>; },
      value: (addon) => status().get(addon.name)?.failing ?? 0,
    },
    { id: 'interval', title: 'Interval', width: '84px', end: true, cell: (addon) => (addon.interval === undefined ? '' : shortDuration(addon.interval)), value: (addon) => addon.interval },
    { id: 'version', title: 'Version', width: '84px', cell: (addon) => addon.version, value: (addon) => addon.version },
    { id: 'origin', title: 'Origin', width: '100px', cell: (addon) => <Badge tone={addon.origin === 'shipped' ? 'mute' : 'info'} title={kOriginWords[addon.origin]}>{addon.origin}</Badge>, value: (addon) => addon.origin },
  ];
}

export function AddonState(props: { addon: Pick<AddonRow, 'enabled'> }): JSX.Element {
  return <StateMark state={props.addon.enabled ? 'ok' : 'disabled'} word={props.addon.enabled ? 'enabled' : 'disabled'} />;
}

function Card(props: { addon: AddonRow }): JSX.Element {
  return (
    <div class="addons-card">
      <div class="row"><strong class="cut">{props.addon.name}</strong><Badge>{props.addon.protocol}</Badge><span class="spring" /><span class="small muted">{count(props.addon.targets)} targets</span></div>
      <div class="small muted cut">{props.addon.title}</div>
    </div>
  );
}
