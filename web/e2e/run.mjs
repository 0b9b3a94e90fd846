// The dashboard from outside: the real server, a simulated fleet, real Chromium. One line per case; ends with 1 if
// any failed.
//   POLLUX_BIN=../build/release/bin/pollux node e2e/run.mjs [part of a name …] [--junit FILE] [--shots FOLDER] [--list]
// POLLUX_WEB=dist tries a dashboard that is not in the binary; POLLUX_E2E_PATIENCE=3 for slow machines;
// POLLUX_E2E_KEEP=1 keeps the data.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { launch } from './browser.mjs';
import { Visit } from './visit.mjs';
import { kPatience, World } from './world.mjs';

const args = process.argv.slice(2);
const take = (name) => {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args.splice(at, 2)[1];
};
const junit = take('--junit');
const shots = take('--shots');
const listOnly = args.includes('--list') && args.splice(args.indexOf('--list'), 1).length > 0;

const files = readdirSync(new URL('cases/', import.meta.url)).filter((name) => name.endsWith('.mjs')).sort();
const cases = [];
for (const file of files) cases.push(...(await import(`./cases/${file}`)).default);
const wanted = cases.filter((one) => args.length === 0 || args.some((part) => one.name.includes(part)));
if (listOnly) {
  for (const one of wanted) console.log(one.name);
  process.exit(0);
}
if (wanted.length === 0) {
  console.error(`no case is named like ${args.join(' ')}; --list shows all`);
  process.exit(2);
}

async function runCase(one, world, browser) {
  const visit = new Visit(world, browser, one);
  const limit = (one.minutes ?? 3) * kPatience;
  let timer;
  try {
    const late = new Promise((_, failed) => (timer = setTimeout(() => failed(new Error(`not done after ${limit / 1000} s`)), limit)));
    await Promise.race([one.run(visit, world), late]);
    visit.complain();
    return null;
  } catch (error) {
    if (shots) {
      mkdirSync(shots, { recursive: true });
      await visit.page?.screenshot({ path: `${shots}/${one.name.replaceAll(/\W+/g, '-')}.png` }).catch(() => undefined);
    }
    const heard = visit.heard();
    return heard.length === 0 || error.message.startsWith('the page complained') ? error : new Error(`${error.message}\n  and the page said: ${heard.join('\n  ')}`, { cause: error });
  } finally {
    clearTimeout(timer);
    await visit.close();
  }
}

const plain = (text) => text.replaceAll(/\x1b\[[0-9;]*m/g, '').trimEnd();
const escaped = (text) => text.replaceAll(/[^\t\n\r\x20-\uFFFD]/g, '?').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

// So that an outage is known soon.
const world = new World({ timeout: '4s' });
const results = [];
let browser;
try {
  await world.start();
  browser = await launch();
  for (const one of wanted) {
    const begin = Date.now();
    const failure = await runCase(one, world, browser);
    const seconds = (Date.now() - begin) / 1000;
    results.push({ name: one.name, seconds, failure });
    console.log(`${failure ? 'FAILED' : 'ok    '} ${one.name} (${seconds.toFixed(1)} s)`);
    if (failure) console.log(`  ${plain(failure.message).replaceAll('\n', '\n  ')}`);
    if (failure && process.env.POLLUX_E2E_TRACE) console.log(failure.cause?.stack ?? failure.stack);
  }
} catch (error) {
  console.error(`the world could not be started: ${error.message}`);
  results.push({ name: 'start', seconds: 0, failure: error });
} finally {
  await browser?.close();
  await world.remove();
}
const failed = results.filter((one) => one.failure).length;
console.log(`${results.length - failed} passed, ${failed} failed`);
if (junit) {
  const lines = results.map((one) => `  <testcase name="${escaped(one.name)}" time="${one.seconds}">${one.failure ? `<failure message="${escaped(one.failure.message)}"/>` : ''}</testcase>`);
  writeFileSync(junit, `<testsuite name="dashboard" tests="${results.length}" failures="${failed}">\n${lines.join('\n')}\n</testsuite>\n`);
}
process.exit(failed > 0 ? 1 : 0);
