// The public status page: a small bundle of its own, without the dashboard and without its library. It
// shows only what GET /api/status-page tells everybody, and asks again each minute.
import '../design/base.css';
import './status.css';
import { draw, drawProblem, noteLengths, noteStale } from './page';
import type { Status } from './model';

const kEvery = 60_000;
const kGiveUp = 15_000;
const root = document.getElementById('status') as HTMLElement;
let shown: Status | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let asking = false;

const dark = matchMedia('(prefers-color-scheme: dark)');
const paint = () => (document.documentElement.dataset['theme'] = dark.matches ? 'dark' : 'light');
dark.addEventListener('change', paint);
paint();

async function ask(): Promise<void> {
  // One question at a time: a second one would also go on asking for itself.
  if (asking) return;
  asking = true;
  clearTimeout(timer);
  try {
    const url = new URL('api/status-page', document.baseURI);
    url.hash = '';
    const answer = await fetch(url, { headers: { Accept: 'application/json' }, cache: 'no-store', signal: AbortSignal.timeout(kGiveUp), credentials: 'omit' });
    if (answer.status === 404) {
      shown = null;
      drawProblem(root, 'There is no status page here', 'It is switched on by the setting status_page.', null);
      return; // asked again when somebody looks again
    }
    if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
    const next = (await answer.json()) as Status;
    if (JSON.stringify({ ...next, updated_at: '' }) !== JSON.stringify({ ...shown, updated_at: '' })) draw(root, next);
    shown = next;
    noteStale(root, next, null);
    noteLengths(root, Date.now());
  } catch {
    if (shown === null) drawProblem(root, 'The status cannot be fetched', 'The server does not answer. That says nothing about what it watches.', () => void ask());
    else noteStale(root, shown, 'The server does not answer.');
  } finally {
    asking = false;
  }
  timer = setTimeout(() => void ask(), kEvery);
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') void ask();
});
void ask();
