// One addon: what it takes, what it reads, what it can raise, who uses it, and its manifest.
import { createMemo, For, lazy, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { href, navigate, param, query, setQuery } from '../../app/router';
import { allItems, api, path } from '../../api/client';
import { Badge, Button, EmptyState, Loaded, Menu, StateMark, Table, Tabs, Time } from '../../design';
import type { Column, MenuEntry } from '../../design';
import { count, duration, plural } from '../../logic/format';
import { fetched } from '../../parts/fetched';
import { fleet } from '../../state/fleet';
import type { Target } from '../../state/fleet';
import { may, whyNot } from '../../state/session';
import { removeAddon, switchAddon } from './acts';
import { AddonState } from './Addons';
import { alertRules, kOriginWords } from './model';
import type { AddonDetail, AddonRow, AlertRule } from './model';
import '../../design/plain_table.css';
import './addons.css';

// An act shows its result at once.
const kSoonest = 250;

const ManifestEditor = lazy(() => import('./ManifestEditor'));

export default function AddonPage(): JSX.Element {
  const name = () => param('name');
  const addon = fetched(name, (one, signal) => api.get<AddonDetail>(path`api/addons/${one}`, { signal }), { soonest: kSoonest });
  const manifest = fetched(
    () => (may('manage') ? name() : null),
    (one, signal) => api.get<string>(path`api/addons/${one}/manifest`, { signal }).then((text) => (typeof text === 'string' ? text : JSON.stringify(text, null, 2))),
    { soonest: kSoonest },
  );
  const rules = createMemo(() => {
    const text = manifest.data();
    return text === undefined ? null : alertRules(text);
  });
  const targets = createMemo(() => fleet.targets().filter((target) => target.addon === name()));
  const again = () => {
    addon.refetch();
    manifest.refetch();
  };
  // What an act answered with may be newer than what is shown: the next act is about that.
  let acted: AddonRow | null = null;
  const newest = (): AddonRow | undefined => {
    const shown = addon.data();
    return shown !== undefined && acted?.name === shown.name && acted.revision > shown.revision ? acted : shown;
  };
  const toggle = async () => {
    const now = newest();
    const next = now === undefined ? null : await switchAddon(now);
    if (next === null) return;
    acted = next;
    again();
  };
  const remove = async () => {
    const now = newest();
    if (!now || !(await removeAddon(now))) return;
    // Another one of this name may be in force now; without one there is nothing to show.
    const left = await allItems<AddonRow>('api/addons', { q: name() }).catch(() => []);
    if (left.some((one) => one.name === name())) again();
    else navigate(href('/addons'));
  };
  const entries = (now: AddonDetail): MenuEntry[] => [
    { label: now.enabled ? 'Disable…' : 'Enable…', icon: now.enabled ? 'pause' : 'play', disabledReason: whyNot('manage'), run: () => void toggle() },
    {
      label: 'Remove…', icon: 'trash', danger: true,
      disabledReason: whyNot('manage') ?? (now.origin === 'api' ? undefined : `It ${now.origin === 'shipped' ? 'came with the server' : 'is in the folder of --addons'} and cannot be removed here; it can be disabled.`),
      run: () => void remove(),
    },
  ];
  return (
    <div class="page addons-one">
      <nav class="small" aria-label="Where you are"><a href={href('/addons')}>Addons</a></nav>
      <Loaded data={addon.data()} problem={addon.problem()} retry={addon.refetch} title="This addon could not be shown" lines={8}>
        {(now) => (
          <>
            <div class="page-head">
              <h1>{now().name}</h1>
              <AddonState addon={now()} />
              <Badge>{now().protocol}</Badge>
              <Badge tone={now().origin === 'shipped' ? 'mute' : 'info'} title={kOriginWords[now().origin]}>{now().origin}</Badge>
              <span class="spring" />
              <Button icon="edit" disabledReason={whyNot('manage')} onClick={() => setQuery({ tab: 'manifest' })}>Edit the manifest</Button>
              <Menu icon="more" bare label={`Acts on ${now().name}`} align="end" entries={() => entries(now())} />
            </div>
            <section class="panel panel-body stack" aria-label="About it">
              <div><strong>{now().title}</strong> <span class="muted">version {now().version}</span></div>
              <Show when={now().description !== ''}><p class="addons-about">{now().description}</p></Show>
              <p class="muted small">
                {kOriginWords[now().origin]}
                <Show when={now().changed_at}>{(at) => <>, changed <Time at={at()} relative /></>}</Show>
                ; {plural(now().targets, 'target')}
                <Show when={now().interval}>{(every) => <>, asked every {duration(every())} unless told otherwise</>}</Show>
                <For each={now().groups.filter((group) => group.name !== '')}>{(group) => <>; {group.name} every {duration(group.interval)}</>}</For>
              </p>
            </section>
            <Tabs
              label="Addon"
              now={query('tab')}
              onChange={(tab) => setQuery({ tab })}
              tabs={[
                { id: 'metrics', title: 'Metrics', count: now().metrics.length, content: () => <Metrics addon={addon.data() ?? now()} /> },
                { id: 'alerts', title: 'Alerts', ...(rules() === null ? {} : { count: rules()?.length ?? 0 }), content: () => <Alerts rules={rules()} known={manifest.data() !== undefined} problem={manifest.problem()?.message} /> },
                { id: 'parameters', title: 'Parameters', count: now().parameters.length, content: () => <Parameters addon={addon.data() ?? now()} /> },
                { id: 'targets', title: 'Targets', count: now().targets, content: () => <Targets rows={targets()} name={name()} /> },
                ...(may('manage')
                  ? [{ id: 'manifest', title: 'Manifest', content: () => <Loaded data={manifest.data()} problem={manifest.problem()} retry={manifest.refetch} lines={6}>{(text) => <ManifestEditor name={name()} manifest={text()} onSaved={again} />}</Loaded> }]
                  : []),
              ]}
            />
          </>
        )}
      </Loaded>
    </div>
  );
}

function Scroll(props: { label: string; children: JSX.Element }): JSX.Element {
  return <div class="panel addons-scroll" role="region" aria-label={props.label} tabindex={0}>{props.children}</div>;
}

function Metrics(props: { addon: AddonDetail }): JSX.Element {
  return (
    <Show when={props.addon.metrics.length > 0} fallback={<EmptyState icon="info" title="It reads no metrics" text="What it hears becomes alerts at once." />}>
      <Scroll label="Metrics">
        <table class="addons-table plain-table">
          <thead><tr><th scope="col">Metric</th><th scope="col">Type</th><th scope="col">Unit</th><th scope="col">What it is</th></tr></thead>
          <tbody>
            <For each={props.addon.metrics}>
              {(metric) => <tr><th scope="row"><code>{metric.name}</code></th><td>{metric.type}</td><td>{metric.unit ?? ''}</td><td>{metric.help ?? ''}{metric.per_row ? <Badge title="One value per row, such as an interface or a disk">per row</Badge> : ''}</td></tr>}
            </For>
          </tbody>
        </table>
      </Scroll>
    </Show>
  );
}

function Alerts(props: { rules: AlertRule[] | null; known: boolean; problem: string | undefined }): JSX.Element {
  const why = () => (props.known ? 'The manifest is of a form that the page does not read; the server does.' : (whyNot('manage') ?? props.problem ?? 'The manifest is being fetched.'));
  return (
    <Show when={props.rules} fallback={<EmptyState icon="lock" title="The alerts stand in the manifest" text={why()} />}>
      {(rules) => (
        <Show when={rules().length > 0} fallback={<EmptyState icon="check" title="It raises no alerts of its own" text="That a target does not answer is noticed for every addon." />}>
          <Scroll label="Alerts">
            <table class="addons-table plain-table">
              <thead><tr><th scope="col">Alert</th><th scope="col">Severity</th><th scope="col">Raised when</th><th scope="col">It says</th></tr></thead>
              <tbody>
                <For each={rules()}>
                  {(rule) => <tr><th scope="row"><code>{rule.name}</code></th><td><StateMark state={rule.severity} /></td><td><code>{rule.when}</code></td><td>{rule.summary}</td></tr>}
                </For>
              </tbody>
            </table>
          </Scroll>
        </Show>
      )}
    </Show>
  );
}

function Parameters(props: { addon: AddonDetail }): JSX.Element {
  return (
    <Show when={props.addon.parameters.length > 0} fallback={<EmptyState icon="settings" title="It takes no parameters" text="A target needs only its device." />}>
      <Scroll label="Parameters">
        <table class="addons-table plain-table">
          <thead><tr><th scope="col">Parameter</th><th scope="col">Type</th><th scope="col">If not given</th><th scope="col">What it is</th></tr></thead>
          <tbody>
            <For each={props.addon.parameters}>
              {(one) => <tr><th scope="row"><code>{one.name}</code></th><td>{one.type}</td><td>{one.required ? <Badge tone="warn">needed</Badge> : <code>{one.default === '' || one.default === undefined ? 'empty' : one.default}</code>}</td><td>{one.help ?? ''}</td></tr>}
            </For>
          </tbody>
        </table>
      </Scroll>
    </Show>
  );
}

function Targets(props: { rows: readonly Target[]; name: string }): JSX.Element {
  const columns: readonly Column<Target>[] = [
    { id: 'state', title: 'State', width: '120px', fixed: true, cell: (target) => <StateMark state={target.state} />, value: (target) => target.state },
    { id: 'device', title: 'Device', width: 'minmax(140px, 1fr)', fixed: true, cell: (target) => <a href={href('/targets/:key', { key: target.key })}>{target.device}</a>, value: (target) => target.device },
    { id: 'address', title: 'Address', width: 'minmax(120px, 1fr)', cell: (target) => <span class="mono">{target.address}</span>, value: (target) => target.address },
    { id: 'problem', title: 'Problem', width: 'minmax(140px, 2fr)', cell: (target) => <span title={target.problem}>{target.problem}</span> },
  ];
  return (
    <div class="stack">
      <div class="row"><span class="muted">{count(props.rows.length)} of them you may see</span><span class="spring" /><a class="button dense" href={href('/fleet', {}, { filter: `addon:${props.name}` })}>Show in the fleet</a></div>
      <Table
        id="addon-targets"
        label="Targets of the addon"
        noun="target"
        columns={columns}
        rows={props.rows}
        rowKey={(target) => target.key}
        track={(target) => target.track()}
        onOpen={(target) => navigate(href('/targets/:key', { key: target.key }))}
        grow={16}
        empty={<EmptyState icon="fleet" title="No target uses it" />}
      />
    </div>
  );
}
