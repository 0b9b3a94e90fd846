// How polling goes: adaptive or fixed, for whom, how often, how much at once. Edits show what they would do
// before they are stored; nothing is restarted.
import { createMemo, createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { Button, FormErrors, Icon, Loaded, TextField, toast } from '../../design';
import { compact, plural } from '../../logic/format';
import { whyNot } from '../../state/session';
import { livePreview, PreviewPanel } from './Preview';
import { nameOf, shownValue, valueText, withEdit } from './setting_kind';
import type { Draft } from './setting_kind';
import { SettingField } from './SettingField';
import { settingsStore } from './settings_store';
import type { SettingsPage } from './shapes';

const kSections: readonly { title: string; text: string; keys: readonly string[] }[] = [
  {
    title: 'Adaptive polling',
    text: 'Learns how often each answer changes and spends the same number of polls where they buy the most. Switching is live: no restart, nothing learned is lost.',
    keys: ['adaptive_polling_enabled', 'adaptive_polling_shadow', 'adaptive_policy', 'adaptive_preset', 'adaptive_polling_scope', 'adaptive_degraded'],
  },
  {
    title: 'Intervals',
    text: 'Durations are written as 30s, 5m or 1h. What a target or an addon sets itself comes first.',
    keys: ['default_interval', 'staleness_bound', 'adaptive_polling_base_interval', 'adaptive_polling_min_interval', 'adaptive_polling_max_interval', 'pve_polling_interval', 'pbs_polling_interval', 'pmg_polling_interval'],
  },
  {
    title: 'Limits',
    text: 'They hold in every window of time, for everything: polls, probes, and acts by hand.',
    keys: ['global_rate', 'global_slots', 'device_rate', 'device_slots', 'device_class_slots', 'max_starts_per_step', 'budget_headroom', 'aging_step'],
  },
  {
    title: 'Timeouts',
    text: 'After which an answer is not waited for any more.',
    keys: ['connection_timeout', 'max_poll_timeout', 'http_timeout', 'snmp_timeout', 'snmp_resends', 'command_timeout', 'check_timeout'],
  },
];

/** Who gets dizzy has told the browser; scrolling by script does not ask it by itself. */
const calm = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

export function Monitoring(props: { draft: Draft; setDraft: (draft: Draft) => void }): JSX.Element {
  const edited = () => Object.keys(props.draft).length;
  const store = settingsStore('api/settings/monitoring', () => (edited() === 0 ? 30_000 : undefined));
  return (
    <Loaded data={store.page.data()} problem={store.page.problem()} retry={store.page.refresh} title="The settings could not be loaded" lines={12}>
      {(page) => <Form store={store} page={page()} draft={props.draft} setDraft={props.setDraft} />}
    </Loaded>
  );
}

function Form(props: { store: ReturnType<typeof settingsStore>; page: SettingsPage; draft: Draft; setDraft: (draft: Draft) => void }): JSX.Element {
  const [reason, setReason] = createSignal('');
  const [rejected, setRejected] = createSignal<Draft>({});
  const preview = livePreview(() => props.draft, () => props.page.version);
  const keys = createMemo(() => Object.keys(props.draft));
  const rest = createMemo(() => Object.keys(props.page.settings).filter((key) => !kSections.some((section) => section.keys.includes(key))));
  const sections = createMemo(() => [...kSections, ...(rest().length > 0 ? [{ title: 'More', text: '', keys: rest() }] : [])]);
  const edit = (key: string, value: Parameters<typeof withEdit>[2]) => {
    const setting = props.page.settings[key];
    if (setting) props.setDraft(withEdit(props.draft, key, value, setting));
  };
  // An error of the last attempt holds until the field is edited again.
  const errorOf = (key: string) =>
    preview.error(key) ?? (key in rejected() && rejected()[key] === props.draft[key] ? props.store.problem()?.field(`/${key}`) : undefined);
  const save = async () => {
    const draft = props.draft;
    setRejected(draft);
    const done = await props.store.save(draft, reason().trim());
    if (done === null) return;
    props.setDraft({});
    setReason('');
    toast('ok', `Stored as version ${done.after} and in force.`, Object.entries(draft).map(([key, value]) => `${nameOf(key)}: ${valueText(value)}`).join('; '));
  };
  return (
    <form
      class="settings-monitoring"
      onSubmit={(event) => {
        event.preventDefault();
        if (keys().length > 0 && whyNot('manage') === undefined) void save();
      }}
    >
      <div class="stack">
        <Show when={whyNot('manage')}>{(why) => <div class="settings-banner tone-warn" role="note"><Icon name="lock" /><span>You can look, but not change anything here. {why()}</span></div>}</Show>
        <For each={sections()}>
          {(section) => (
            <fieldset class="panel settings-section" disabled={whyNot('manage') !== undefined}>
              <legend class="seen-by-readers">{section.title}</legend>
              <div class="panel-head"><h2>{section.title}</h2><span class="muted small">{section.text}</span></div>
              <div class="panel-body settings-grid">
                <For each={section.keys.filter((key) => props.page.settings[key] !== undefined)}>
                  {(key) => {
                    const setting = () => props.page.settings[key]!;
                    return (
                      <SettingField
                        name={key}
                        setting={setting()}
                        value={shownValue(props.draft, key, setting())}
                        edited={key in props.draft}
                        error={errorOf(key)}
                        onChange={(value) => edit(key, value)}
                        onUndo={() => edit(key, setting().value)}
                      />
                    );
                  }}
                </For>
              </div>
            </fieldset>
          )}
        </For>
      </div>
      <aside class="settings-side" id="settings-review" aria-label="Preview and saving">
        <div class="panel panel-body stack">
          <PreviewPanel preview={preview} edited={keys().length > 0} />
          <Show when={keys().length > 0} fallback={<p class="muted small">Version {props.page.version}.{whyNot('manage') === undefined ? ' Edit something to see what it would do.' : ''}</p>}>
            <section class="stack">
              <h3>{plural(keys().length, 'edit')}</h3>
              <ul class="settings-edits">
                <For each={keys()}>{(key) => <li><span class="muted">{nameOf(key)}</span><span>{valueText(props.page.settings[key]?.value)} → <strong>{props.draft[key] === null ? `default (${valueText(props.page.settings[key]?.default)})` : valueText(props.draft[key])}</strong></span></li>}</For>
              </ul>
              <FormErrors problem={props.store.problem()} fields={keys().map((key) => `/${key}`)} />
              <Show when={props.store.problem()?.status === 412}><p class="muted small">The settings were read again; your edits are still here. Look at them, and save once more.</p></Show>
              <TextField label="Reason (optional)" help="Kept with the version and in the audit trail." value={reason()} onInput={setReason} />
              <div class="row">
                <Button kind="primary" type="submit" busy={props.store.busy()} disabledReason={whyNot('manage') ?? (preview.latest()?.valid === false ? 'Something is wrong with an edit.' : undefined)}>Save</Button>
                <Button onClick={() => (props.setDraft({}), props.store.clearProblem())}>Discard</Button>
              </div>
            </section>
          </Show>
        </div>
      </aside>
      <Show when={keys().length > 0}>
        <div class="settings-bar">
          <span>{plural(keys().length, 'edit')}<Show when={preview.latest()?.then}>{(then) => <>: {compact(preview.present()?.polls_per_second)} → {compact(then().polls_per_second)} polls/s</>}</Show></span>
          <span class="spring" />
          <Button kind="primary" onClick={() => document.getElementById('settings-review')?.scrollIntoView({ behavior: calm() ? 'auto' : 'smooth', block: 'start' })}>Review and save</Button>
        </div>
      </Show>
    </form>
  );
}
