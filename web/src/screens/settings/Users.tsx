// Users with their grants and sessions. For admins.
import { createMemo, createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { allItems, api, path } from '../../api/client';
import type { Grant } from '../../api/model';
import { Badge, Button, CheckField, Dialog, EmptyState, FormDialog, FormErrors, Loaded, StateMark, Table, TextField, Time, useForm } from '../../design';
import type { Column } from '../../design';
import { keepRows } from '../../logic/keep_rows';
import { may, me, whyNot } from '../../state/session';
import { polled } from '../../state/polled';
import { askAndDo, saveForm, store } from './acts';
import { ActsMenu } from './ActsMenu';
import { cleanGrants, Grants, GrantsField } from './GrantsField';
import { Sessions } from './Sessions';
import type { User } from './shapes';

const kRights: readonly [string, string, readonly string[]][] = [
  ['read', 'see states, plans and settings', ['viewer', 'operator', 'admin', 'auditor']],
  ['operate', 'poll now, run jobs, acknowledge, silence', ['operator', 'admin']],
  ['manage', 'change what is configured, breakers and dead letters, users', ['admin']],
  ['audit', 'read the audit trail', ['admin', 'auditor']],
  ['self', 'own password, sessions and tokens', ['viewer', 'operator', 'admin', 'auditor']],
];

export function Users(): JSX.Element {
  return (
    <Show
      when={may('manage')}
      fallback={<div class="panel"><EmptyState icon="lock" title="Users are for admins" text={`${whyNot('manage') ?? ''} Your own password, sessions and tokens are under Account and Tokens.`} /></div>}
    >
      <UserList />
    </Show>
  );
}

function UserList(): JSX.Element {
  const users = polled((signal) => allItems<User>('api/users', {}, 5000, signal), { every: 60_000 });
  const [editing, setEditing] = createSignal<User | 'new' | null>(null);
  const [sessionsOf, setSessionsOf] = createSignal<string | null>(null);
  const rows = createMemo<readonly User[]>((before) => keepRows(before, users.data() ?? [], (row) => row.name), []);
  const remove = (user: User) =>
    askAndDo(
      { title: `Remove ${user.name}?`, text: 'All tokens and sessions of this user end at once. What the user did stays in the audit trail.', action: 'Remove', danger: true },
      () => api.delete(path`api/users/${user.name}`),
      { done: () => `${user.name} is removed.`, failed: `${user.name} could not be removed` },
      users.refresh,
    );
  const columns: Column<User>[] = [
    { id: 'name', title: 'Name', width: 'minmax(140px, 1fr)', fixed: true, cell: (row) => <><strong>{row.name}</strong><Show when={row.name === me()?.name}> <Badge tone="ok">you</Badge></Show></>, value: (row) => row.name },
    { id: 'display', title: 'Shown as', width: 'minmax(120px, 1fr)', cell: (row) => row.display ?? '', value: (row) => row.display },
    { id: 'grants', title: 'Grants', width: 'minmax(180px, 2fr)', cell: (row) => <Grants grants={row.grants} />, value: (row) => row.grants.map((one) => one.role).join(' ') },
    { id: 'state', title: 'State', width: '150px', cell: (row) => <UserState user={row} />, value: (row) => (row.disabled ? 2 : row.has_password ? 0 : 1) },
    { id: 'created', title: 'Since', width: '110px', cell: (row) => <Time at={row.created} relative />, value: (row) => row.created },
    { id: 'password', title: 'Password set', width: '120px', cell: (row) => <Time at={row.password_changed} relative />, value: (row) => row.password_changed },
    { id: 'act', title: 'Acts', width: '52px', fixed: true, cell: (row) => <Acts user={row} /> },
  ];
  const Acts = (props: { user: User }) => (
    <ActsMenu
      name={props.user.name}
      entries={() => [
        { label: 'Edit', icon: 'edit', run: () => setEditing(props.user) },
        { label: 'Sessions', icon: 'user', run: () => setSessionsOf(props.user.name) },
        { kind: 'line' },
        { label: 'Remove', icon: 'trash', danger: true, disabledReason: props.user.name === me()?.name ? 'You cannot remove yourself.' : undefined, run: () => void remove(props.user) },
      ]}
    />
  );
  return (
    <div class="stack">
      <div class="row"><h2>Users</h2><span class="spring" /><Button kind="primary" icon="plus" onClick={() => setEditing('new')}>Add a user</Button></div>
      <Loaded data={users.data()} problem={users.problem()} retry={users.refresh} title="The users could not be loaded">
        {() => (
          <Table
            id="settings-users"
            label="Users"
            noun="user"
            grow={14}
            columns={columns}
            rows={rows()}
            rowKey={(row) => row.name}
            onOpen={setEditing}
            card={(row) => (
              <div class="settings-card">
                <span class="row"><strong>{row.name}</strong><UserState user={row} /><span class="spring" /><Acts user={row} /></span>
                <Grants grants={row.grants} />
              </div>
            )}
          />
        )}
      </Loaded>
      <Rights />
      <Show when={editing()} keyed>{(user) => <UserDialog user={user === 'new' ? null : user} onClose={() => setEditing(null)} onDone={() => (setEditing(null), void users.refresh())} />}</Show>
      <Show when={sessionsOf()} keyed>{(name) => <Dialog title={`Sessions of ${name}`} wide onClose={() => setSessionsOf(null)}><Sessions user={name} /></Dialog>}</Show>
    </div>
  );
}

function UserState(props: { user: User }): JSX.Element {
  return (
    <Show when={!props.user.disabled} fallback={<StateMark state="disabled" />}>
      <Show when={props.user.has_password} fallback={<span class="muted small">tokens only</span>}><StateMark state="ok" word="can log in" /></Show>
    </Show>
  );
}

function UserDialog(props: { user: User | null; onClose: () => void; onDone: () => void }): JSX.Element {
  const [name, setName] = createSignal('');
  const [display, setDisplay] = createSignal(props.user?.display ?? '');
  const [password, setPassword] = createSignal('');
  const [disabled, setDisabled] = createSignal(props.user?.disabled ?? false);
  const [grants, setGrants] = createSignal<Grant[]>(props.user?.grants.map((one) => ({ ...one })) ?? [{ role: 'viewer' }]);
  const form = useForm();
  const save = () =>
    void saveForm(
      form,
      async () => {
        const shared = { display: display().trim(), grants: cleanGrants(grants()), ...(password() === '' ? {} : { password: password() }) };
        return store('users', props.user, name().trim(), props.user === null ? shared : { ...shared, disabled: disabled() });
      },
      () => [props.user === null ? `${name().trim()} is added.` : `${props.user.name} is changed.`],
      props.onDone,
    );
  return (
    <FormDialog
      title={props.user === null ? 'Add a user' : `Edit ${props.user.name}`}
      wide
      action={props.user === null ? 'Add' : 'Save'}
      busy={form.busy()}
      onClose={props.onClose}
      onSubmit={save}
    >
      <FormErrors problem={form.problem()} fields={['/name', '/display', '/password', ...grants().flatMap((_, place) => [`/grants/${place}/role`, `/grants/${place}/selector`])]} />
      <Show when={props.user === null}>
        <TextField label="Name" value={name()} onInput={setName} autofocus help="1 to 64 of a-z 0-9 . _ @ -" error={form.problem()?.field('/name')} />
      </Show>
      <TextField label="Shown as (optional)" value={display()} onInput={setDisplay} error={form.problem()?.field('/display')} />
      <GrantsField grants={grants()} onChange={setGrants} problem={form.problem()} none="Without a grant this user may do nothing but change the own password." />
      <TextField
        label={props.user === null ? 'Password (optional)' : 'New password (optional)'}
        type="password"
        autocomplete="new-password"
        value={password()}
        onInput={setPassword}
        help={props.user === null ? '10 characters or more. Without one the user cannot log in, but can own tokens.' : 'Empty: it stays. A new one ends all sessions of this user.'}
        error={form.problem()?.field('/password')}
      />
      <Show when={props.user !== null}>
        <CheckField label="Disabled: may neither log in nor use tokens" value={disabled()} onChange={setDisabled} />
      </Show>
    </FormDialog>
  );
}

function Rights(): JSX.Element {
  const roles = ['viewer', 'operator', 'admin', 'auditor'];
  return (
    <details class="panel settings-details">
      <summary>What the roles may do</summary>
      <div class="settings-scroll">
        <table class="settings-rights">
          <thead><tr><th scope="col">Right</th><For each={roles}>{(role) => <th scope="col">{role}</th>}</For></tr></thead>
          <tbody>
            <For each={kRights}>
              {([right, what, who]) => (
                <tr><th scope="row">{right} <span class="muted small">{what}</span></th><For each={roles}>{(role) => <td>{who.includes(role) ? 'yes' : <span class="muted">no</span>}</td>}</For></tr>
              )}
            </For>
          </tbody>
        </table>
        <p class="muted small">A grant with labels holds only for what has them; users, settings and notifications need one for everything. Nobody grants more than he has.</p>
      </div>
    </details>
  );
}
