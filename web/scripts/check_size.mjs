// The first load (everything index.html names, compressed) stays under 200 kB; so does status.html
// under 40 kB.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const out = process.env.POLLUX_WEB_OUT ?? 'dist';
const limits = { 'index.html': 200_000, 'status.html': 40_000 };
let failed = false;
for (const [page, limit] of Object.entries(limits)) {
  const text = readFileSync(`${out}/${page}`, 'utf8');
  const files = [...text.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map((found) => found[1]);
  const size = [page, ...files].reduce((sum, file) => sum + gzipSync(readFileSync(`${out}/${file}`)).length, 0);
  console.log(`${page}: ${(size / 1000).toFixed(1)} kB compressed of ${limit / 1000} kB`);
  failed ||= size > limit;
}
process.exit(failed ? 1 : 0);
