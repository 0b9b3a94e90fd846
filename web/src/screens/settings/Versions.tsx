// Every version of the settings: who changed what, when and why; two of them side by side; and back to one.
import { createMemo, createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api } from '../../api/client';
import { Badge, Button, EmptyState, Loaded, SelectField, Time } from '../../design';
import { plural } from '../../logic/format';
import { keepRows } from '../../logic/keep_rows';
import { whyNot } from '../../state/session';
import { polled } from '../../state/polled';
import { askAndDo } from './acts';
import { pages } from './pages';
import type { Page } from './pages';
import { valueText } from './setting_kind';
import type { SettingChange, SettingsPage, SettingsVersion } from './shapes';

const kPage = 20;

export function Versions(): JSX.Element {
  const ask = (before: Page<SettingsVersion>['next'], signal?: AbortSignal) => api.get<Page<SettingsVersion>>('api/settings/versions', { query: { limit: kPage, before }, ...(signal ? { signal } : {}) });
  const newest = polled((signal) => ask(undefined, signal), { every: 30_000 });
  const list = pages({ newest: newest.data, ask, number: (one) => one.version, failed: 'Older versions could not be loaded' });
  const versions = createMemo<readonly SettingsVersion[]>((before) => keepRows(before, list.rows(), (one) => String(one.version)), []);
  const next = list.next;
  const rollback = (version: number) =>
    askAndDo(
      {
        title: version === 0 ? 'Go back to before the first change?' : `Go back to version ${version}?`,
        text: 'The settings become exactly what they were then, as a new version, and are in force at once; what needs a restart, after it. Nothing of the history is lost.',
        action: 'Go back',
        danger: true,
        reason: 'required',
      },
      (reason) => api.post<SettingsPage>('api/settings/rollback', { version, reason }),
      { done: (page) => `The settings are as in version ${version} again; this is version ${page.version}.`, failed: `Going back to version ${version} failed` },
      () => (list.reset(), newest.refresh()),
    );
  return (
    <Loaded data={newest.data()} problem={newest.problem()} retry={newest.refresh} title="The versions could not be loaded" lines={8}>
      {() => (
        <div class="stack">
          <Show when={versions().length > 0} fallback={<div class="panel"><EmptyState icon="clock" title="Nobody has changed a setting" text="Each change becomes a version here, with who made it and why." /></div>}>
            <Compare versions={versions()} onRollback={(version) => void rollback(version)} />
            <ol class="panel settings-versions">
              <For each={versions()}>
                {(one, place) => (
                  <li>
                    <div class="row">
                      <strong>Version {one.version}</strong>
                      <Show when={place() === 0}><Badge tone="ok">in force</Badge></Show>
                      <Time at={one.at} />
                      <span class="muted settings-note">{one.note}</span>
                      <span class="spring" />
                      <Button dense icon="refresh" disabledReason={whyNot('manage') ?? (place() === 0 ? 'This version is in force.' : undefined)} onClick={() => void rollback(one.version)}>Go back to it</Button>
                    </div>
                    <Changes changes={one.changes} />
                  </li>
                )}
              </For>
              <Show when={next() === undefined}>
                <li>
                  <div class="row">
                    <strong>Version 0</strong><span class="muted">before the first change: every setting at its default</span><span class="spring" />
                    <Button dense icon="refresh" disabledReason={whyNot('manage')} onClick={() => void rollback(0)}>Go back to it</Button>
                  </div>
                </li>
              </Show>
            </ol>
            <Show when={next() !== undefined}><Button busy={list.busy()} onClick={() => void list.more()}>Show older versions</Button></Show>
          </Show>
        </div>
      )}
    </Loaded>
  );
}

export function Changes(props: { changes: readonly SettingChange[]; from?: string; to?: string }): JSX.Element {
  return (
    <Show when={props.changes.length > 0} fallback={<p class="muted small">No value differs.</p>}>
      <table class="settings-changes">
        <thead class={props.from === undefined ? 'seen-by-readers' : ''}><tr><th scope="col">Setting</th><th scope="col">{props.from ?? 'Before'}</th><th scope="col">{props.to ?? 'After'}</th></tr></thead>
        <tbody>
          <For each={props.changes}>
            {(change) => (
              <tr>
                <th scope="row" class="mono">{change.key ?? change.name}</th>
                <td><del class="settings-before">{valueText(change.before)}</del></td>
                <td><ins class="settings-after">{valueText(change.after)}</ins></td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </Show>
  );
}

function Compare(props: { versions: readonly SettingsVersion[]; onRollback: (version: number) => void }): JSX.Element {
  const newest = () => props.versions[0]?.version ?? 0;
  const [chosenFrom, setFrom] = createSignal<number | null>(null);
  const [chosenTo, setTo] = createSignal<number | null>(null);
  const from = () => chosenFrom() ?? props.versions[1]?.version ?? 0;
  const to = () => chosenTo() ?? newest();
  const choices = createMemo(() => [...props.versions.map((one) => ({ value: String(one.version), label: `Version ${one.version}${one.version === newest() ? ' (in force)' : ''}` })), { value: '0', label: 'Version 0 (before the first change)' }]);
  const difference = polled((signal) => api.get<{ changes: SettingChange[] }>('api/settings/diff', { query: { from: from(), to: to() }, signal }), { key: () => `${from()} ${to()}` });
  return (
    <section class="panel" aria-label="Compare two versions">
      <div class="panel-head"><h2>Compare</h2></div>
      <div class="panel-body stack">
        <div class="settings-compare">
          <SelectField label="From" value={String(from())} onChange={(value) => setFrom(Number(value))} choices={choices()} />
          <SelectField label="To" value={String(to())} onChange={(value) => setTo(Number(value))} choices={choices()} />
        </div>
        <Loaded data={difference.data()} problem={difference.problem()} retry={difference.refresh} title="The two versions could not be compared" lines={2}>
          {(data) => (
            <>
              <p class="muted small">{data().changes.length === 0 ? '' : `${plural(data().changes.length, 'value')} differ${data().changes.length === 1 ? 's' : ''}.`}</p>
              <Changes changes={data().changes} from={`Version ${from()}`} to={`Version ${to()}`} />
            </>
          )}
        </Loaded>
      </div>
    </section>
  );
}
