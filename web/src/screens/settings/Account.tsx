// One's own: who one is, password, sessions, how the page looks.
import { createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api } from '../../api/client';
import { Button, FormErrors, TextField, toast, toastProblem, useForm } from '../../design';
import { setThemeChoice, themeChoice } from '../../design/theme';
import type { ThemeChoice } from '../../design/theme';
import { duration } from '../../logic/format';
import { logout, me } from '../../state/session';
import { Grants } from './GrantsField';
import { Sessions } from './Sessions';

const kThemes: readonly { value: ThemeChoice; label: string }[] = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

export function Account(): JSX.Element {
  const [old, setOld] = createSignal('');
  const [password, setPassword] = createSignal('');
  const [again, setAgain] = createSignal('');
  const form = useForm();
  const differs = () => again() !== '' && again() !== password();
  const change = () => {
    if (differs() || password() === '') return;
    void form
      .run(() => api.post('api/me/password', { old_password: old(), password: password() }, { quiet401: true }))
      .then((done) => {
        if (!done) return;
        setOld('');
        setPassword('');
        setAgain('');
        toast('ok', 'Your password is changed; your other sessions have ended.');
      });
  };
  return (
    <div class="settings-account">
      <section class="panel">
        <div class="panel-head"><h2>You</h2><span class="spring" /><Button dense onClick={() => void logout().catch((error: unknown) => toastProblem(error, 'You are still logged in'))}>Log out</Button></div>
        <dl class="facts panel-body">
          <dt>Name</dt><dd>{me()?.name}</dd>
          <dt>Grants</dt><dd><Grants grants={me()?.grants} /></dd>
          <dt>May</dt><dd>{me()?.permissions.join(', ')}</dd>
        </dl>
      </section>
      <section class="panel">
        <div class="panel-head"><h2>Appearance</h2></div>
        <div class="panel-body row" role="group" aria-label="Appearance"><For each={kThemes}>{(one) => <Button pressed={themeChoice() === one.value} onClick={() => setThemeChoice(one.value)}>{one.label}</Button>}</For></div>
      </section>
      <section class="panel">
        <div class="panel-head"><h2>Password</h2></div>
        <form class="panel-body stack" onSubmit={(event) => (event.preventDefault(), change())}>
          <FormErrors problem={form.problem()} fields={['/old_password', '/password']} />
          <Show when={form.problem()?.retryAfter}>{(seconds) => <p class="muted small">Try again in {duration(seconds())}.</p>}</Show>
          <TextField label="Present password" type="password" autocomplete="current-password" value={old()} onInput={setOld} error={form.problem()?.field('/old_password')} />
          <TextField label="New password" type="password" autocomplete="new-password" value={password()} onInput={setPassword} help="10 characters or more; a few words are good." error={form.problem()?.field('/password')} />
          <TextField label="New password once more" type="password" autocomplete="new-password" value={again()} onInput={setAgain} error={differs() ? 'The two passwords differ.' : undefined} />
          <div><Button kind="primary" type="submit" busy={form.busy()} disabled={old() === '' || password() === '' || again() === '' || differs()}>Change the password</Button></div>
        </form>
      </section>
      <section class="panel">
        <div class="panel-head"><h2>Where you are logged in</h2></div>
        <div class="panel-body"><Sessions user={me()?.name ?? ''} /></div>
      </section>
    </div>
  );
}
