// The first run (a token the server printed makes the first admin) and the login.
import { createSignal, onMount, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { Button, CheckField, FormErrors, TextField, useForm } from '../../design';
import icon from '../../design/icon.svg';
import { duration } from '../../logic/format';
import { bootstrap, login, session } from '../../state/session';
import './welcome.css';

export default function Welcome(): JSX.Element {
  const out = () => {
    const now = session();
    return now.kind === 'out' ? now : null;
  };
  return (
    <main class="welcome">
      <div class="welcome-card">
        <div class="welcome-head">
          <img src={icon} width="36" height="36" alt="" />
          <h1>{out()?.welcome.needs_bootstrap ? 'Welcome to Pollux' : 'Log in to Pollux'}</h1>
        </div>
        <Show when={out()?.welcome.needs_bootstrap} fallback={<Login lost={out()?.lost ?? false} />}><FirstAdmin /></Show>
        <Show when={out()?.welcome.status_page}>
          <p class="welcome-foot"><a href="status">Status page</a></p>
        </Show>
      </div>
    </main>
  );
}

function Login(props: { lost: boolean }): JSX.Element {
  const [name, setName] = createSignal('');
  const [password, setPassword] = createSignal('');
  const [keep, setKeep] = createSignal(false);
  const form = useForm();
  let element!: HTMLFormElement;
  onMount(() => element.querySelector('input')?.focus());
  const locked = () => form.problem()?.retryAfter ?? null;
  return (
    <form
      ref={element}
      onSubmit={(event) => {
        event.preventDefault();
        void form.run(() => login(name().trim(), password(), keep()));
      }}
    >
      <Show when={props.lost}><p class="welcome-note tone-info">Your session has ended. Log in again to go on where you were.</p></Show>
      <FormErrors problem={form.problem()} />
      <Show when={locked()}>{(seconds) => <p class="welcome-note tone-warn">Try again in {duration(seconds())}.</p>}</Show>
      <TextField label="Name" name="username" autocomplete="username" value={name()} onInput={setName} />
      <TextField label="Password" name="password" type="password" autocomplete="current-password" value={password()} onInput={setPassword} />
      <CheckField label="Stay logged in for 30 days" value={keep()} onChange={setKeep} />
      <Button kind="primary" type="submit" busy={form.busy()}>Log in</Button>
    </form>
  );
}

const kFields = ['/token', '/name', '/password'];

function FirstAdmin(): JSX.Element {
  const [token, setToken] = createSignal('');
  const [name, setName] = createSignal('admin');
  const [password, setPassword] = createSignal('');
  const [again, setAgain] = createSignal('');
  const form = useForm();
  let element!: HTMLFormElement;
  onMount(() => element.querySelector('input')?.focus());
  const differs = () => again() !== '' && again() !== password();
  return (
    <form
      ref={element}
      onSubmit={(event) => {
        event.preventDefault();
        if (!differs()) void form.run(() => bootstrap(token().trim(), name().trim(), password()));
      }}
    >
      <p class="muted">
        There is no account yet. The server printed a one-time token when it started; with it you make the first admin.
      </p>
      <FormErrors problem={form.problem()} fields={kFields} />
      <TextField
        label="One-time token"
        mono
        placeholder="plxboot_…"
        value={token()}
        onInput={setToken}
        error={form.problem()?.field('/token')}
        help="On the terminal or in the journal of the server (journalctl -u pollux). Each start prints a new one, valid for 24 hours."
      />
      <TextField label="Name" name="username" autocomplete="username" value={name()} onInput={setName} error={form.problem()?.field('/name')} />
      <TextField
        label="Password"
        name="new-password"
        type="password"
        autocomplete="new-password"
        value={password()}
        onInput={setPassword}
        error={form.problem()?.field('/password')}
        help="10 characters or more; a few words are good."
      />
      <TextField
        label="Password once more"
        type="password"
        autocomplete="new-password"
        value={again()}
        onInput={setAgain}
        error={differs() ? 'The two passwords differ.' : undefined}
      />
      <Button kind="primary" type="submit" busy={form.busy()} disabled={token() === '' || password() === '' || again() === ''}>Make the first admin</Button>
    </form>
  );
}
