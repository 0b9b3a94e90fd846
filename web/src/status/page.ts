// Draws the status page.
import { element, mark } from './dom';
import { dayWords, groupWords, headline, kDays, lastDays, lasted, levelOf, moment, openSince, snippets, utcMoment } from './model';
import type { Group, Incident, Status } from './model';

export function drawProblem(root: HTMLElement, title: string, text: string, again: (() => void) | null): void {
  const button = again === null ? null : element('button', { type: 'button', class: 'status-button' }, 'Try again');
  if (button !== null && again !== null) button.addEventListener('click', again);
  root.replaceChildren(element('main', { class: 'status-page' }, element('div', { class: 'status-problem', role: 'alert' }, element('h1', {}, title), element('p', { class: 'muted' }, text), button)));
}

export function draw(root: HTMLElement, status: Status): void {
  document.title = `${status.title} · ${headline(status.state, 0, status.groups)}`;
  const open = status.incidents.filter((one) => one.state === 'open');
  const past = status.incidents.filter((one) => one.state !== 'open');
  const focused = (document.activeElement as HTMLElement | null)?.dataset['place'];
  const page = element(
    'main',
    { class: 'status-page' },
    element('header', { class: 'status-head' }, element('h1', {}, status.title)),
    element('section', { class: `status-now state-${status.state}`, 'aria-label': 'Now' }, mark(status.state, headline(status.state, open.length, status.groups), 22)),
    element('p', { class: 'status-as-of muted', 'data-as-of': '', role: 'status' }),
    open.length > 0 && incidents('Open incidents', open),
    groups(status.groups),
    past.length > 0 && incidents('Past incidents', past),
    status.groups.length > 0 && badges(status.groups),
    element('footer', { class: 'status-foot muted' }, 'Times are those of your clock, UTC when you point at them. Days are UTC days.'),
  );
  root.replaceChildren(page);
  // Drawn anew: who was on a day stays there.
  if (focused !== undefined) root.querySelector<HTMLElement>(`[data-place="${CSS.escape(focused)}"]`)?.focus();
}

/** The line under the head: as of when, and that it is old if it is. */
export function noteStale(root: HTMLElement, status: Status, problem: string | null): void {
  const line = root.querySelector<HTMLElement>('[data-as-of]');
  if (line === null) return;
  line.textContent = problem === null ? `As of ${moment(status.updated_at)}` : `${problem} This is as it was on ${moment(status.updated_at)}.`;
  line.title = utcMoment(status.updated_at);
  line.classList.toggle('stale', problem !== null);
}

/** An open incident goes on, also when nothing else changes that the page would be drawn anew for. */
export function noteLengths(root: HTMLElement, now: number): void {
  for (const one of root.querySelectorAll<HTMLElement>('[data-open-since]')) one.textContent = openSince(one.dataset['openSince'] ?? '', now);
}

function groups(all: readonly Group[]): HTMLElement {
  if (all.length === 0) return element('p', { class: 'muted' }, 'No groups are shown here yet.');
  const list = element('ul', { class: 'status-groups' });
  all.forEach((group, index) => list.append(groupRow(group, index)));
  return element('section', { 'aria-label': 'Groups' }, list);
}

function groupRow(group: Group, index: number): HTMLElement {
  const said = element('p', { class: 'status-day small muted', 'aria-live': 'polite' });
  const days = lastDays(group.days);
  const bars = element('div', { class: 'status-bars', role: 'toolbar', 'aria-label': `${group.name}, the last ${kDays} days` });
  days.forEach((day, at) => {
    const words = dayWords(day, kDays - 1 - at);
    const bar = element('button', { type: 'button', class: `status-bar level-${levelOf(day)}`, 'aria-label': words, title: words, tabindex: at === kDays - 1 ? 0 : -1, 'data-place': `${index}-${at}` });
    const show = () => (said.textContent = words);
    bar.addEventListener('focus', show);
    bar.addEventListener('mouseenter', show);
    bar.addEventListener('click', show);
    bars.append(bar);
  });
  bars.addEventListener('keydown', (event) => moveAlong(bars, event));
  bars.addEventListener('mouseleave', () => {
    if (!bars.contains(document.activeElement)) said.textContent = '';
  });
  return element(
    'li',
    { class: 'status-group' },
    element('div', { class: 'status-group-head' }, element('h2', {}, group.name), mark(group.state), element('span', { class: 'muted small' }, groupWords(group))),
    bars,
    element('div', { class: 'status-scale small muted', 'aria-hidden': 'true' }, element('span', { class: 'far' }), element('span', {}, 'today')),
    said,
  );
}

/** One stop of the Tab key per group; arrows, Home and End move along its days. */
function moveAlong(bars: HTMLElement, event: KeyboardEvent): void {
  const all = [...bars.querySelectorAll<HTMLElement>('.status-bar')].filter((bar) => bar.offsetParent !== null);
  const at = all.indexOf(document.activeElement as HTMLElement);
  const moves: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1, PageUp: at - 7, PageDown: at + 7 };
  const to = moves[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  const next = all[Math.max(0, Math.min(all.length - 1, to))];
  if (next === undefined) return;
  for (const bar of all) bar.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function incidents(title: string, all: readonly Incident[]): HTMLElement {
  const list = element('ul', { class: 'status-incidents' });
  for (const one of all) {
    const notes = element('ol', { class: 'status-notes' });
    for (const note of one.notes) notes.append(element('li', {}, element('time', { datetime: note.at, class: 'small muted', title: utcMoment(note.at) }, moment(note.at)), element('p', {}, note.text)));
    const when = one.state === 'open' ? openSince(one.started, Date.now()) : `${moment(one.started)}, for ${lasted(one, Date.now())}`;
    const times = `${utcMoment(one.started)}${one.ended === undefined ? '' : ` to ${utcMoment(one.ended)}`}`;
    list.append(
      element(
        'li',
        { class: `status-incident ${one.state}` },
        element('div', { class: 'status-group-head' }, element('h3', {}, one.title), mark(one.state), element('time', { class: 'small muted', datetime: one.started, title: times, 'data-open-since': one.state === 'open' ? one.started : null }, when)),
        one.groups.length > 0 && element('p', { class: 'small muted' }, one.groups.join(', ')),
        one.notes.length > 0 && notes,
      ),
    );
  }
  return element('section', { class: 'status-section' }, element('h2', {}, title), list);
}

function badges(all: readonly Group[]): HTMLElement {
  const names = ['all', ...all.map((group) => group.name)];
  const select = element('select', { class: 'status-select', id: 'status-badge' });
  for (const name of names) select.append(element('option', { value: name }, name === 'all' ? 'the whole' : name));
  const image = element('img', { height: 20, alt: '' });
  const code = { url: element('code', {}), markdown: element('code', {}), html: element('code', {}) };
  const show = () => {
    const made = snippets(document.baseURI, select.value);
    image.src = made.url;
    image.alt = `Badge of ${select.value}`;
    code.url.textContent = made.url;
    code.markdown.textContent = made.markdown;
    code.html.textContent = made.html;
  };
  select.addEventListener('change', show);
  const body = element(
    'div',
    { class: 'status-badge' },
    element('div', { class: 'status-badge-head' }, element('label', { for: 'status-badge' }, 'Badge of '), select, image),
    snippetRow('Address', code.url),
    snippetRow('Markdown', code.markdown),
    snippetRow('HTML', code.html),
  );
  const details = element('details', { class: 'status-badges' }, element('summary', {}, 'Badges for your own pages'), body);
  details.addEventListener('toggle', () => details.open && image.src === '' && show());
  return details;
}

function snippetRow(name: string, code: HTMLElement): HTMLElement {
  const copy = element('button', { type: 'button', class: 'status-button', 'aria-label': `Copy ${name}` }, 'Copy');
  copy.addEventListener('click', () => {
    const done = (text: string) => {
      copy.textContent = text;
      setTimeout(() => (copy.textContent = 'Copy'), 2000);
    };
    if (navigator.clipboard === undefined) {
      getSelection()?.selectAllChildren(code);
      done('Selected');
    } else navigator.clipboard.writeText(code.textContent ?? '').then(() => done('Copied'), () => done('Not allowed'));
  });
  return element('div', { class: 'status-snippet' }, element('span', { class: 'small muted' }, name), element('pre', { tabindex: 0, 'aria-label': name }, code), copy);
}
