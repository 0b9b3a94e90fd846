// Who may import whom, as README.md has it. Screens are loaded when they are opened: what they share stands in
// parts/, else one of them would bring another one along.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, it } from 'vitest';

// What a folder may import besides itself.
const kAllowed: Record<string, readonly string[]> = {
  logic: [],
  api: ['logic'],
  state: ['api', 'logic'],
  design: ['api/problem', 'logic'],
  app: ['design', 'state', 'api', 'logic'],
  parts: ['app', 'design', 'state', 'api', 'logic'],
  screens: ['parts', 'app', 'design', 'state', 'api', 'logic'],
  status: ['logic', 'design'],
  testing: [],
};

function files(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

/** A folder of src; of screens, the folder of the one screen. */
function placeOf(file: string): string {
  const parts = relative('src', file).split(sep);
  return parts[0] === 'screens' ? `screens/${parts[1]}` : (parts[0] ?? '');
}

/** Imports that are loaded together with the file; `import()` is not. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/^(?:import|export)\s[^;]*?from '(\.[^']+)'|^import '(\.[^']+)'/gm)].map((found) => resolve(dirname(file), found[1] ?? found[2] ?? ''));
}

export function forbidden(file: string, imported: string): boolean {
  const from = placeOf(file);
  const to = placeOf(imported);
  const layer = from.split('/')[0] ?? '';
  if (from === to || kAllowed[layer] === undefined) return false;
  const path = relative('src', imported).split(sep).join('/');
  return !(kAllowed[layer] as readonly string[]).some((one) => path === one || path.startsWith(`${one}/`));
}

const sources = files('src').filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.gen.ts') && !file.endsWith('.test.ts') && dirname(file) !== 'src');

describe('the layers', () => {
  it('would be found broken', () => {
    expect(forbidden('src/screens/fleet/Fleet.tsx', resolve('src/screens/start/Discover'))).toBe(true);
    expect(forbidden('src/app/Shell.tsx', resolve('src/screens/start/Discover'))).toBe(true);
    expect(forbidden('src/state/fleet.ts', resolve('src/parts/fetched'))).toBe(true);
    expect(forbidden('src/design/Button.tsx', resolve('src/api/client'))).toBe(true);
    expect(forbidden('src/design/Loaded.tsx', resolve('src/api/problem'))).toBe(false);
    expect(importsOf('src/screens/fleet/Fleet.tsx').map((one) => placeOf(one))).toContain('state');
  });
  it.each(sources)('%s imports only what stands below it', (file) => {
    expect(importsOf(file).filter((one) => forbidden(file, one)).map((one) => relative('src', one))).toEqual([]);
  });
});
