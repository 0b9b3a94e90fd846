// API tokens: made, shown once, revoked.
import { createMemo, createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { allItems, api, path } from '../../api/client';
import type { Grant } from '../../api/model';
import { Badge, Button, CheckField, Dialog, EmptyState, FormDialog, FormErrors, Loaded, SelectField, StateMark, Table, TextField, Time, useForm } from '../../design';
import type { Column } from '../../design';
import { serverNow } from '../../logic/clock';
import { keepRows } from '../../logic/keep_rows';
import { may, me } from '../../state/session';
import { polled } from '../../state/polled';
import { askAndDo } from './acts';
import { cleanGrants, Grants, GrantsField } from './GrantsField';
import type { Token, User } from './shapes';

const kScopes: readonly [string, string][] = [
  ['monitoring:read', 'read monitoring, fleet and system'],
  ['monitoring:write', 'that, and operate and manage monitoring'],
  ['settings:read', 'read settings, fleet and system'],
  ['settings:write', 'that, and change settings and fleet'],
  ['jobs:read', 'read jobs'],
  ['jobs:write', 'that, and submit and cancel them'],
  ['audit:read', 'read the audit trail'],
  ['admin', 'everything the owner may'],
];

const kLives = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: '0', label: 'Never' },
];

export function Tokens(): JSX.Element {
  const tokens = polled((signal) => allItems<Token>('api/tokens', {}, 5000, signal), { every: 30_000 });
  const [adding, setAdding] = createSignal(false);
  const [made, setMade] = createSignal<{ secret: string; token: Token } | null>(null);
  const rows = createMemo<readonly Token[]>((before) => keepRows(before, tokens.data() ?? [], (row) => row.name), []);
  const revoke = (token: Token) =>
    askAndDo(
      { title: `Revoke the token ${token.name}?`, text: 'Whoever uses it is refused at once. This cannot be taken back: a new token has another secret.', action: 'Revoke', danger: true },
      () => api.delete(path`api/tokens/${token.name}`),
      { done: () => `The token ${token.name} is revoked.`, failed: `The token ${token.name} could not be revoked` },
      tokens.refresh,
    );
  const columns: Column<Token>[] = [
    { id: 'name', title: 'Name', width: 'minmax(140px, 1.2fr)', fixed: true, cell: (row) => <span class="mono">{row.name}</span>, value: (row) => row.name },
    { id: 'owner', title: 'Owner', width: 'minmax(100px, 1fr)', cell: (row) => row.owner, value: (row) => row.owner },
    { id: 'scopes', title: 'Scopes', width: 'minmax(200px, 2fr)', cell: (row) => <Scopes token={row} />, value: (row) => row.scopes.join(' ') },
    { id: 'used', title: 'Last used', width: '120px', cell: (row) => <Time at={row.last_used} relative />, value: (row) => row.last_used },
    { id: 'expires', title: 'Expires', width: '130px', cell: (row) => <Show when={!row.expired} fallback={<StateMark state="failed" word="expired" />}><Time at={row.expires} relative none="never" /></Show>, value: (row) => row.expires },
    { id: 'created', title: 'Made', width: '110px', cell: (row) => <Time at={row.created} relative />, value: (row) => row.created },
    { id: 'act', title: 'Acts', width: '56px', fixed: true, cell: (row) => <Button dense bare kind="quiet" icon="trash" label={`Revoke ${row.name}`} onClick={() => void revoke(row)} /> },
  ];
  return (
    <div class="stack">
      <div class="row">
        <h2>API tokens</h2>
        <span class="muted small">{may('manage') ? 'of all users' : 'your own'}; a token may at most what its owner may</span>
        <span class="spring" />
        <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>Make a token</Button>
      </div>
      <Loaded data={tokens.data()} problem={tokens.problem()} retry={tokens.refresh} title="The tokens could not be loaded">
        {() => (
          <Show when={rows().length > 0} fallback={<div class="panel"><EmptyState icon="lock" title="No tokens yet" text="Scripts and other programs use tokens instead of a password." /></div>}>
            <Table
              id="settings-tokens"
              label="API tokens"
              noun="token"
              grow={16}
              columns={columns}
              rows={rows()}
              rowKey={(row) => row.name}
              cardHeight={78}
              card={(row) => (
                <div class="settings-card">
                  <span class="row"><span class="mono cut">{row.name}</span><span class="muted small">{row.owner}</span><span class="spring" /><Button dense bare kind="quiet" icon="trash" label={`Revoke ${row.name}`} onClick={() => void revoke(row)} /></span>
                  <span class="muted small">used <Time at={row.last_used} relative />, expires <Time at={row.expires} relative none="never" /></span>
                </div>
              )}
            />
          </Show>
        )}
      </Loaded>
      <Show when={adding()}>
        <TokenDialog onClose={() => setAdding(false)} onMade={(found) => (setAdding(false), setMade(found), void tokens.refresh())} />
      </Show>
      <Show when={made()}>{(found) => <SecretDialog name={found().token.name} secret={found().secret} onClose={() => setMade(null)} />}</Show>
    </div>
  );
}

function Scopes(props: { token: Token }): JSX.Element {
  return (
    <span class="settings-badges">
      <Show when={props.token.scopes.length > 0} fallback={<Badge tone="warn">all that the owner may</Badge>}><For each={props.token.scopes}>{(scope) => <Badge>{scope}</Badge>}</For></Show>
      <Show when={(props.token.grants ?? []).length > 0}><Grants grants={props.token.grants} /></Show>
    </span>
  );
}

function TokenDialog(props: { onClose: () => void; onMade: (made: { secret: string; token: Token }) => void }): JSX.Element {
  const [name, setName] = createSignal('');
  const [owner, setOwner] = createSignal(me()?.name ?? '');
  const [scopes, setScopes] = createSignal<ReadonlySet<string>>(new Set(['monitoring:read']));
  const [life, setLife] = createSignal('90');
  const [narrow, setNarrow] = createSignal(false);
  const [grants, setGrants] = createSignal<Grant[]>([]);
  const users = may('manage') ? polled((signal) => allItems<User>('api/users', {}, 1000, signal)) : null;
  const form = useForm();
  const toggle = (scope: string, on: boolean) =>
    setScopes((before) => {
      const next = new Set(before);
      if (on) next.add(scope);
      else next.delete(scope);
      return next;
    });
  const save = () =>
    void form.run(async () => {
      const expires = Number(life()) === 0 ? undefined : new Date(serverNow() + Number(life()) * 86_400_000).toISOString();
      const made = await api.post<{ secret: string; token: Token }>('api/tokens', {
        name: name().trim(),
        ...(owner() === '' || owner() === me()?.name ? {} : { owner: owner() }),
        scopes: [...scopes()],
        ...(narrow() ? { grants: cleanGrants(grants()) } : {}),
        ...(expires === undefined ? {} : { expires }),
      });
      props.onMade(made);
    });
  return (
    <FormDialog title="Make a token" wide action="Make it" busy={form.busy()} onClose={props.onClose} onSubmit={save}>
      <FormErrors problem={form.problem()} fields={['/name', '/owner', '/expires']} />
      <TextField label="Name" mono autofocus placeholder="ci" help="1 to 64 letters, digits or . _ -" value={name()} onInput={setName} error={form.problem()?.field('/name')} />
      <Show when={users}><TextField label="Owner" value={owner()} onInput={setOwner} list={users?.data()?.map((one) => one.name) ?? []} help="It may at most what this user may at the moment of use." error={form.problem()?.field('/owner')} /></Show>
      <SelectField label="Expires after" value={life()} onChange={setLife} choices={kLives} error={form.problem()?.field('/expires')} />
      <fieldset class="settings-picks wide">
        <legend>Scopes</legend>
        <For each={kScopes}>{([scope, what]) => <CheckField label={`${scope}: ${what}`} value={scopes().has(scope)} onChange={(on) => toggle(scope, on)} />}</For>
        <Show when={scopes().size === 0}><p class="muted small">Without a scope the token may all that its owner may.</p></Show>
      </fieldset>
      <CheckField label="Narrow it further, to roles or a part of the fleet" value={narrow()} onChange={setNarrow} />
      <Show when={narrow()}><GrantsField grants={grants()} onChange={setGrants} problem={form.problem()} none="No grant: the token may nothing." /></Show>
    </FormDialog>
  );
}

function SecretDialog(props: { name: string; secret: string; onClose: () => void }): JSX.Element {
  const [copied, setCopied] = createSignal(false);
  let field!: HTMLInputElement;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(props.secret);
      setCopied(true);
    } catch {
      // Without TLS browsers give no clipboard; what is selected can be copied by hand.
      field.select();
      setCopied(document.execCommand('copy'));
    }
  };
  return (
    <Dialog title={`The token ${props.name}`} wide firm onClose={props.onClose} foot={<Button kind="primary" onClick={props.onClose}>I have stored it</Button>}>
      <p>This is the only time that the secret is shown. Only a hash of it is kept.</p>
      <div class="settings-secret">
        <input ref={field} class="input mono" readOnly value={props.secret} aria-label="Secret of the token" onFocus={(event) => event.currentTarget.select()} />
        <Button icon={copied() ? 'check' : 'copy'} onClick={() => void copy()}>{copied() ? 'Copied' : 'Copy'}</Button>
      </div>
      <p class="muted small">Send it as <code>X-API-Token</code> or <code>Authorization: Bearer</code>.</p>
    </Dialog>
  );
}
