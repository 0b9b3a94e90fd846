// Who is logged in and what that person may do.
import { createSignal } from 'solid-js';
import { api, asProblem, setCsrfToken, whenSessionLost } from '../api/client';
import type { Me, Permission, Welcome } from '../api/model';

export type SessionState =
  | { kind: 'loading' }
  | { kind: 'out'; welcome: Welcome; lost: boolean }
  | { kind: 'in'; me: Me }
  | { kind: 'unreachable'; detail: string };

const [session, setSession] = createSignal<SessionState>({ kind: 'loading' });
export { session };

export function me(): Me | null {
  const now = session();
  return now.kind === 'in' ? now.me : null;
}

async function askWelcome(lost: boolean): Promise<void> {
  const welcome = await api.get<Welcome>('api/welcome', { quiet401: true });
  setSession({ kind: 'out', welcome, lost });
}

/** At the start of the page, and again after a login. */
export async function loadSession(): Promise<void> {
  try {
    const found = await api.get<Me>('api/me', { quiet401: true });
    setCsrfToken(found.csrf_token ?? '');
    setSession({ kind: 'in', me: found });
  } catch (error) {
    const problem = asProblem(error);
    try {
      if (problem.status !== 401) throw problem;
      await askWelcome(false);
    } catch (second) {
      setSession({ kind: 'unreachable', detail: asProblem(second).message });
    }
  }
}

/** After a break: whether the session still holds (if not, the login is shown), and its token. */
export async function checkSession(): Promise<void> {
  try {
    const found = await api.get<Me>('api/me');
    setCsrfToken(found.csrf_token ?? '');
    // Meanwhile it may have become the session of somebody else, or of somebody with other rights.
    if (session().kind === 'in') setSession({ kind: 'in', me: found });
  } catch {
    // Not reachable: the banner says so.
  }
}

export async function login(name: string, password: string, remember: boolean): Promise<void> {
  const answer = await api.post<{ csrf_token: string }>('api/login', { name, password, remember }, { quiet401: true });
  setCsrfToken(answer.csrf_token);
  await loadSession();
}

export async function bootstrap(token: string, name: string, password: string): Promise<void> {
  await api.post('api/bootstrap', { token, name, password }, { quiet401: true });
  await login(name, password, false);
}

/** Throws if the session did not end: it is still there then, and whoever asked for it must know. */
export async function logout(): Promise<void> {
  try {
    await api.post('api/logout', undefined, { quiet401: true });
  } catch (error) {
    if (asProblem(error).status !== 401) throw error;
  }
  setCsrfToken('');
  await loadSession();
}

whenSessionLost(() => {
  if (session().kind !== 'in') return;
  setCsrfToken('');
  setSession({ kind: 'out', welcome: { needs_bootstrap: false, status_page: false }, lost: true });
});

const kRoleFor: Record<Permission, string> = {
  read: 'viewer, operator or admin',
  operate: 'operator or admin',
  manage: 'admin',
  audit: 'auditor or admin',
  self: 'any',
};

/** Whether this is allowed somewhere; the server decides about each object. */
export function may(permission: Permission): boolean {
  return me()?.permissions.includes(permission) ?? false;
}

/** Why a control is off: give it to `disabledReason`. Nothing if it is allowed. */
export function whyNot(permission: Permission): string | undefined {
  return may(permission) ? undefined : `Your role does not allow this; it needs ${kRoleFor[permission]}.`;
}
