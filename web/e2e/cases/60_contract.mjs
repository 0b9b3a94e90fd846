// The types of the page are those of the server it talks to.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const web = fileURLToPath(new URL('../../', import.meta.url));
const kMend = 'npm run openapi && npm run types brings web/ up to date (see web/README.md)';

export default [
  {
    name: 'openapi.json is the contract of this server, and the types are made of it',
    run: async (_visit, world) => {
      const contract = await world.api('GET', 'api/openapi.json');
      const kept = JSON.parse(readFileSync(join(web, 'openapi.json'), 'utf8'));
      assert.ok(JSON.stringify(kept) === JSON.stringify(contract), `web/openapi.json is of another server: ${kMend}`);
      const folder = mkdtempSync(join(tmpdir(), 'pollux-types-'));
      try {
        const made = join(folder, 'types.ts');
        execFileSync(process.execPath, [join(web, 'node_modules/openapi-typescript/bin/cli.js'), join(web, 'openapi.json'), '-o', made], { cwd: web, stdio: 'pipe' });
        assert.ok(readFileSync(made, 'utf8') === readFileSync(join(web, 'src/api/types.gen.ts'), 'utf8'), `types.gen.ts is not what openapi.json gives: ${kMend}`);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  },
];
