// Every setting with its value, where that comes from, and when a change is in force.
import { createMemo, createSignal, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { Badge, Button, Dialog, FilterInput, FormErrors, Loaded, Table, TextField, toast } from '../../design';
import type { Column } from '../../design';
import { query, setQuery } from '../../app/router';
import { compileFilter, parseFilter } from '../../logic/filter';
import type { FilterSchema } from '../../logic/filter';
import { whyNot } from '../../state/session';
import { Marked } from './Marked';
import { compareTopics, lockOf, nameOf, originText, sameValue, topicOf, valueText, withEdit } from './setting_kind';
import type { Draft } from './setting_kind';
import { SettingField } from './SettingField';
import { settingsStore } from './settings_store';
import type { SettingsStore } from './settings_store';
import type { Setting } from './shapes';

interface Row {
  key: string;
  setting: Setting;
}

const kFilter: FilterSchema<Row> = {
  fields: [
    { name: 'origin', help: 'default, settings or environment', kind: 'word', read: (row) => row.setting.origin, values: () => ['default', 'settings', 'environment'] },
    { name: 'applies', help: 'live, restart, or no effect yet', kind: 'text', read: (row) => row.setting.applies, values: () => ['live', 'restart'] },
    { name: 'topic', help: 'polling, alerts, API …', kind: 'text', read: (row) => topicOf(row.key) },
    { name: 'locked', help: 'yes: only the environment can change it', kind: 'word', read: (row) => (row.setting.locked ? 'yes' : 'no'), values: () => ['yes', 'no'] },
  ],
  text: (row) => `${row.key} ${nameOf(row.key)} ${row.setting.help} ${row.setting.environment} ${valueText(row.setting.value)}`,
};

const kColumns: Column<Row>[] = [
  { id: 'key', title: 'Setting', width: 'minmax(220px, 1.4fr)', fixed: true, cell: (row) => <span class="mono" title={row.setting.help}>{row.key}</span>, value: (row) => row.key },
  { id: 'value', title: 'Value', width: 'minmax(160px, 1.2fr)', cell: (row) => <Value row={row} />, value: (row) => valueText(row.setting.value) },
  { id: 'origin', title: 'From', width: '170px', cell: (row) => <Origin setting={row.setting} />, value: (row) => row.setting.origin },
  { id: 'applies', title: 'In force', width: '130px', cell: (row) => <span class={row.setting.applies === 'live' ? 'muted' : ''}>{row.setting.applies === 'live' ? 'at once' : row.setting.applies === 'restart' ? 'after a restart' : row.setting.applies}</span>, value: (row) => row.setting.applies },
  { id: 'help', title: 'What it does', width: 'minmax(260px, 3fr)', cell: (row) => <span class="muted" title={row.setting.help}><Marked text={row.setting.help} /></span> },
  { id: 'environment', title: 'Variable', width: '260px', hidden: true, cell: (row) => <code>{row.setting.environment}</code>, value: (row) => row.setting.environment },
];

function Value(props: { row: Row }): JSX.Element {
  const usual = () => sameValue(props.row.setting.value, props.row.setting.default);
  return <span class={usual() ? 'muted' : 'settings-changed'} title={valueText(props.row.setting.value)}>{valueText(props.row.setting.value)}</span>;
}

function Origin(props: { setting: Setting }): JSX.Element {
  const tone = () => (props.setting.origin === 'environment' ? 'warn' : props.setting.origin === 'settings' ? 'info' : 'mute');
  return <Badge tone={tone()} title={lockOf(props.setting) ?? ''}>{originText(props.setting.origin)}{props.setting.locked ? ', locked' : ''}</Badge>;
}

export function AllSettings(): JSX.Element {
  const [open, setOpen] = createSignal<string | null>(null);
  const store = settingsStore('api/settings', () => (open() === null ? 30_000 : undefined));
  const filter = () => query('filter');
  const wanted = createMemo(() => compileFilter(parseFilter(filter()), kFilter));
  const rows = createMemo<Row[]>(() => Object.entries(store.page.data()?.settings ?? {}).map(([key, setting]) => ({ key, setting })).filter(wanted()));
  return (
    <div class="stack">
      <div class="row"><div class="settings-filter"><FilterInput label="Filter settings" placeholder="origin:environment applies:restart topic:alerts text" schema={kFilter} value={filter()} onInput={(text) => setQuery({ filter: text })} /></div></div>
      <Loaded data={store.page.data()} problem={store.page.problem()} retry={store.page.refresh} title="The settings could not be loaded" lines={12}>
        {() => (
          <Table
            id="settings-all"
            label="Settings"
            noun="setting"
            grow={22}
            columns={kColumns}
            rows={rows()}
            rowKey={(row) => row.key}
            groups={(row) => topicOf(row.key)}
            compareGroups={compareTopics}
            onOpen={(row) => setOpen(row.key)}
            cardHeight={70}
            card={(row) => (
              <div class="settings-card">
                <span class="row"><span class="mono cut">{row.key}</span><span class="spring" /><Origin setting={row.setting} /></span>
                <span class="cut"><Value row={row} /></span>
              </div>
            )}
            empty={<p class="muted panel-body">No setting is like this filter.</p>}
          />
        )}
      </Loaded>
      <Show when={open()} keyed>{(key) => <EditDialog name={key} store={store} onClose={() => (setOpen(null), store.clearProblem())} />}</Show>
    </div>
  );
}

function EditDialog(props: { name: string; store: SettingsStore; onClose: () => void }): JSX.Element {
  const [draft, setDraft] = createSignal<Draft>({});
  const [reason, setReason] = createSignal('');
  const setting = () => props.store.page.data()?.settings[props.name];
  const edited = () => props.name in draft();
  const refused = () => whyNot('manage') ?? (setting() ? lockOf(setting() as Setting) : undefined);
  const save = async () => {
    if (!edited() || refused() !== undefined) return;
    const done = await props.store.save(draft(), reason().trim());
    if (done === null) return;
    const restart = setting()?.applies === 'restart';
    toast('ok', `Stored as version ${done.after}${restart ? '; in force after the next start of the server' : ' and in force'}.`);
    props.onClose();
  };
  return (
    <Dialog
      title={props.name}
      onClose={props.onClose}
      onSubmit={() => void save()}
      foot={
        <>
          <Button onClick={props.onClose}>{edited() ? 'Cancel' : 'Close'}</Button>
          <Button kind="primary" type="submit" busy={props.store.busy()} disabledReason={refused() ?? (edited() ? undefined : 'Nothing was edited.')}>Save</Button>
        </>
      }
    >
      <Show when={setting()}>
        {(one) => (
          <>
            <FormErrors problem={props.store.problem()} fields={[`/${props.name}`]} />
            <SettingField
              name={props.name}
              setting={one()}
              value={edited() ? (draft()[props.name] ?? one().default) : one().value}
              edited={edited()}
              error={props.store.problem()?.field(`/${props.name}`)}
              refused={whyNot('manage')}
              onChange={(value) => setDraft(withEdit(draft(), props.name, value, one()))}
              onUndo={() => setDraft({})}
            />
            <Show when={edited()}><TextField label="Reason (optional)" help="Kept with the version and in the audit trail." value={reason()} onInput={setReason} /></Show>
            <p class="muted small">Variable of the environment: <code>{one().environment}</code><Show when={one().name}>{(name) => <>; in system.json: <code>{name()}</code></>}</Show></p>
          </>
        )}
      </Show>
    </Dialog>
  );
}
