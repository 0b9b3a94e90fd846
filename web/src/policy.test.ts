// The server sends a content policy without inline styles and scripts: what would be blocked in the
// browser is found here.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

function files(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

const sources = files('src').filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.gen.ts') && !file.endsWith('.test.ts'));

describe('the content policy', () => {
  it.each(['index.html', 'status.html'])('%s has no inline script or style', (file) => {
    const text = readFileSync(file, 'utf8');
    expect(text).not.toMatch(/<style|style=|<script(?![^>]*src=)|\son\w+=/i);
  });
  it.each(sources)('%s has no inline style, HTML from text, or foreign address', (file) => {
    const text = readFileSync(file, 'utf8');
    expect(text).not.toMatch(/style="/); // would stand in the markup; style={{…}} is set by script
    expect(text).not.toMatch(/style=\{\{\s*(?:'?[\w-]+'?:\s*(?:'[^']*'|"[^"]*"|\d+)\s*,?\s*)+\}\}/); // constants are folded into the markup
    expect(text).not.toMatch(/innerHTML|insertAdjacentHTML|document\.write|\beval\(/);
    expect(text).not.toMatch(/https?:\/\/(?!www\.w3\.org|example\.org)/);
  });
  it('stores nothing but the theme and columns', () => {
    const users = sources.filter((file) => /localStorage|sessionStorage|indexedDB|document\.cookie/.test(readFileSync(file, 'utf8')));
    expect(users).toEqual([join('src', 'design', 'theme.ts')]);
  });
});
