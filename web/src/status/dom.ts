// Elements without a library: texts are only ever text.
type Child = Node | string | null | undefined | false;

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Record<string, string | number | null | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined) made.setAttribute(key, String(value));
  for (const child of children) if (child) made.append(child);
  return made;
}

const kSvg = 'http://www.w3.org/2000/svg';

const kShapes: Record<string, string> = {
  up: 'M6 1.5a4.5 4.5 0 1 0 .01 0z',
  degraded: 'M6 1.4a4.6 4.6 0 1 0 .01 0zM6 3a3 3 0 0 0 0 6z',
  down: 'M3 1h6a2 2 0 0 1 2 2v6a2 2 0 0 1-2 2H3a2 2 0 0 1-2-2V3a2 2 0 0 1 2-2zM4.4 3.3 3.3 4.4 4.9 6 3.3 7.6l1.1 1.1L6 7.1l1.6 1.6 1.1-1.1L7.1 6l1.6-1.6-1.1-1.1L6 4.9z',
  unknown: 'M6 1.4a4.6 4.6 0 1 0 .01 0zM6 3a3 3 0 1 0 .01 0z',
};
const kTones: Record<string, string> = { up: 'ok', degraded: 'warn', down: 'bad', unknown: 'mute', open: 'bad', resolved: 'ok' };
const kOf: Record<string, string> = { open: 'down', resolved: 'up' };

/** A state as shape, word and colour. */
export function mark(state: string, word = state, size = 12): HTMLElement {
  const svg = document.createElementNS(kSvg, 'svg');
  svg.setAttribute('viewBox', '0 0 12 12');
  svg.setAttribute('width', String(size));
  svg.setAttribute('height', String(size));
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(kSvg, 'path');
  path.setAttribute('d', kShapes[kOf[state] ?? state] ?? kShapes['unknown'] ?? '');
  path.setAttribute('fill', 'currentColor');
  path.setAttribute('fill-rule', 'evenodd');
  svg.append(path);
  return element('span', { class: `status-mark tone-${kTones[state] ?? 'mute'}` }, svg, element('span', {}, word));
}
