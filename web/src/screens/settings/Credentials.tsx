// How devices and services are entered: names for secrets. They are written here and never shown.
import { createMemo, createSignal, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { allItems, api, path } from '../../api/client';
import { Button, EmptyState, Loaded, Table, Time } from '../../design';
import type { Column } from '../../design';
import { keepRows } from '../../logic/keep_rows';
import { CredentialDialog } from '../../parts/CredentialDialog';
import type { Credential } from '../../parts/CredentialDialog';
import { credentialWords, kindOf } from '../../parts/credential';
import { polled } from '../../state/polled';
import { whyNot } from '../../state/session';
import { askAndDo } from './acts';
import { OwnedActs, Owner } from './Owner';

export function Credentials(): JSX.Element {
  const credentials = polled((signal) => allItems<Credential>('api/credentials', {}, 5000, signal), { every: 60_000 });
  const [editing, setEditing] = createSignal<Credential | 'new' | null>(null);
  const rows = createMemo<readonly Credential[]>((before) => keepRows(before, credentials.data() ?? [], (row) => row.name), []);
  const remove = (one: Credential) =>
    askAndDo(
      { title: `Remove the credential ${one.name}?`, text: 'Its secrets are destroyed. What still names it must be changed first.', action: 'Remove', danger: true },
      () => api.delete(path`api/credentials/${one.name}`),
      { done: () => `${one.name} is removed.`, failed: `${one.name} could not be removed` },
      credentials.refresh,
    );
  const Acts = (props: { credential: Credential }) => (
    <OwnedActs kind="credentials" object={props.credential} refresh={credentials.refresh} edit="Replace" onEdit={() => setEditing(props.credential)} onRemove={() => void remove(props.credential)} />
  );
  const columns: Column<Credential>[] = [
    { id: 'name', title: 'Name', width: 'minmax(140px, 1fr)', fixed: true, cell: (row) => <span class="row settings-nowrap"><span class="cut" title={row.name}>{row.name}</span><Owner object={row} /></span>, value: (row) => row.name },
    { id: 'kind', title: 'Kind', width: 'minmax(180px, 1.2fr)', cell: (row) => kindOf(row.spec).label, value: (row) => kindOf(row.spec).label },
    { id: 'holds', title: 'Holds', width: 'minmax(180px, 1.6fr)', cell: (row) => <span class="muted" title={credentialWords(row.spec)}>{credentialWords(row.spec)}</span> },
    { id: 'changed', title: 'Changed', width: '110px', cell: (row) => <Time at={row.changed_at} relative none="–" />, value: (row) => row.changed_at },
    { id: 'act', title: 'Acts', width: '52px', fixed: true, cell: (row) => <Acts credential={row} /> },
  ];
  return (
    <div class="stack">
      <div class="row"><h2>Credentials</h2><span class="muted small">names for secrets; they are written here and never shown</span><span class="spring" /><Button kind="primary" icon="plus" disabledReason={whyNot('manage')} onClick={() => setEditing('new')}>Add a credential</Button></div>
      <Loaded data={credentials.data()} problem={credentials.problem()} retry={credentials.refresh} title="The credentials could not be loaded">
        {() => (
          <Show when={rows().length > 0} fallback={<div class="panel"><EmptyState icon="lock" title="No credentials yet" text="What needs a password, a community or a token names a credential: devices, targets, receivers and sweeps of networks." /></div>}>
            <Table
              id="settings-credentials"
              label="Credentials"
              noun="credential"
              grow={16}
              columns={columns}
              rows={rows()}
              rowKey={(row) => row.name}
              cardHeight={66}
              card={(row) => (
                <div class="settings-card">
                  <span class="row"><strong class="cut">{row.name}</strong><Owner object={row} /><span class="spring" /><Acts credential={row} /></span>
                  <span class="muted small cut">{kindOf(row.spec).label}: {credentialWords(row.spec)}</span>
                </div>
              )}
            />
          </Show>
        )}
      </Loaded>
      <Show when={editing()} keyed>{(one) => <CredentialDialog known={one === 'new' ? null : one} onClose={() => setEditing(null)} onDone={() => (setEditing(null), void credentials.refresh())} />}</Show>
    </div>
  );
}
