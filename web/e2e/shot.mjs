// Saves pictures of a page:
//   POLLUX_USER=admin POLLUX_PASSWORD=… node e2e/shot.mjs http://127.0.0.1:7655 '#/fleet' fleet
// gives shots/fleet-{light,dark,phone}.png. Options: --wait ms, --out folder, --only light|dark|phone,
// --do 'script' (run in the page before the picture), --press 'g f' (keys).
import { mkdirSync } from 'node:fs';
import { complaints, launch, logIn } from './browser.mjs';

const args = process.argv.slice(2);
const option = (name, other) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? other : args.splice(at, 2)[1];
};
const wait = Number(option('wait', 1500));
const out = option('out', 'shots');
const only = option('only');
const script = option('do');
const press = option('press');
const [server = 'http://127.0.0.1:7655', hash = '', name = 'page'] = args;
const looks = {
  light: { viewport: { width: 1360, height: 860 }, colorScheme: 'light' },
  dark: { viewport: { width: 1360, height: 860 }, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light', deviceScaleFactor: 2, isMobile: true, hasTouch: true },
};

mkdirSync(out, { recursive: true });
const browser = await launch();
// One login for all pictures: logins are limited to ten in a minute.
const first = await browser.newContext();
await logIn(first, server);
const storageState = await first.storageState();
let failed = false;
for (const [look, settings] of Object.entries(looks)) {
  if (only && only !== look) continue;
  const context = await browser.newContext({ ...settings, storageState });
  const page = await context.newPage();
  const found = complaints(page);
  await page.goto(`${server}/${hash}`, { waitUntil: 'load' });
  await page.waitForTimeout(wait);
  if (script) await page.evaluate(script);
  for (const key of press ? press.split(' ') : []) await page.keyboard.press(key);
  if (script || press) await page.waitForTimeout(600);
  await page.screenshot({ path: `${out}/${name}-${look}.png` });
  for (const one of found) console.log(`${look}: ${one}`);
  failed ||= found.length > 0;
  await context.close();
}
await browser.close();
process.exit(failed ? 1 : 0);
