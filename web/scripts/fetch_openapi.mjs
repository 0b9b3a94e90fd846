// Writes openapi.json anew, from the server of this clone:
//   POLLUX_BIN=../build/release/bin/pollux npm run openapi && npm run types
import { writeFileSync } from 'node:fs';
import { World } from '../e2e/world.mjs';

const world = new World();
try {
  await world.start();
  const contract = await world.api('GET', 'api/openapi.json');
  writeFileSync(new URL('../openapi.json', import.meta.url), `${JSON.stringify(contract, null, 1)}\n`);
  console.log(`${Object.keys(contract.paths).length} paths`);
} finally {
  await world.remove();
}
