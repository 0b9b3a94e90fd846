// Light, dark, or as the system says. The choice is the page's own; nothing else is stored but it and
// the columns of tables.
import { createSignal } from 'solid-js';

export type ThemeChoice = 'system' | 'light' | 'dark';

const kPlace = 'pollux.theme';

export function remembered(place: string): string | null {
  try {
    return localStorage.getItem(place);
  } catch {
    return null; // a browser that stores nothing is fine
  }
}

export function remember(place: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(place);
    else localStorage.setItem(place, value);
  } catch {
    // as above
  }
}

function stored(): ThemeChoice {
  const found = remembered(kPlace);
  return found === 'light' || found === 'dark' ? found : 'system';
}

const system = matchMedia('(prefers-color-scheme: dark)');
const [choice, setChoiceSignal] = createSignal<ThemeChoice>(stored());
const [theme, setTheme] = createSignal<'light' | 'dark'>('light');

function apply(): void {
  const now = choice() === 'system' ? (system.matches ? 'dark' : 'light') : (choice() as 'light' | 'dark');
  document.documentElement.dataset['theme'] = now;
  setTheme(now);
}

export function setThemeChoice(value: ThemeChoice): void {
  setChoiceSignal(value);
  remember(kPlace, value === 'system' ? null : value);
  apply();
}

system.addEventListener('change', apply);
apply();

export { choice as themeChoice, theme };

/** The value of a token now; reads the theme, so that drawings follow it. */
export function token(name: string): string {
  theme();
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
