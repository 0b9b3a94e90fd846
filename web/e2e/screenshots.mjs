// A picture of every screen: light, dark and on a phone, with few, many and very many targets.
//   POLLUX_BIN=… node e2e/screenshots.mjs [--sizes 10,800,5000] [--only part-of-a-name] [--out shots] [--docs FOLDER]
// gives shots/800/fleet-dark.png and so on. --docs takes only the dozen of the documentation, at one size.
// Ends with 1 if a page complained, or if a text lies on another or out of its box, also below what the picture shows.
import { mkdirSync } from 'node:fs';
import { launch } from './browser.mjs';
import { textTrouble } from './overlaps.mjs';
import { kScreens, madeScreens, makeBatch, settle } from './screens.mjs';
import { Visit } from './visit.mjs';
import { kAdmin, pause, until, World } from './world.mjs';

const args = process.argv.slice(2);
const option = (name, other) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? other : args.splice(at, 2)[1];
};
const docs = option('docs');
const sizes = option('sizes', docs ? '800' : '10,800,5000').split(',').map(Number);
const only = option('only', '');
const out = option('out', docs ?? 'shots');
if (args.length > 0 || sizes.some((size) => !(size >= 4))) {
  console.error('usage: screenshots [--sizes 10,800,5000] [--only part-of-a-name] [--out FOLDER] [--docs FOLDER]');
  process.exit(2);
}

const desk = { viewport: { width: 1360, height: 860 } };
const kLooks = {
  light: { ...desk, colorScheme: 'light' },
  dark: { ...desk, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light', deviceScaleFactor: 2, isMobile: true, hasTouch: true },
};
// What the documentation shows: each screen in one look.
const kShown = {
  overview: 'light', fleet: 'dark', target: 'light', device: 'light', incident: 'light', incidents: 'dark', scheduler: 'light', 'scheduler-policies': 'dark', batch: 'light',
  'addon-manifest': 'dark', 'settings-monitoring': 'light', status: 'light', 'fleet-phone': 'phone',
};

/** People, a time of calm for the charts, then trouble and work, so that no screen is empty. */
async function furnish(world, switches, calm, seconds) {
  await world.ensureAdmin();
  await world.api('POST', 'api/users', { name: 'vera', password: 'a quiet onlooker', grants: [{ role: 'viewer' }] });
  await world.set({ status_page: true, status_page_title: 'Network of Turin', adaptive_polling_enabled: true });
  await pause(calm);
  // A switch and, in a large fleet, some of what stands behind it.
  const behind = switches > 50 ? [3, 4, 5, 6, 7, 8] : [];
  for (const number of [1, ...behind]) await world.break(`sw-${String(number).padStart(5, '0')}`, 'down');
  const incident = await until('the incident of the switch', async () => {
    const { items } = await world.api('GET', 'api/incidents?device_name=sw-00001&status=open');
    return items.find(({ affected }) => affected >= behind.length);
  }, 240_000);
  const { items: alerts } = await world.api('GET', `api/alerts?incident=${incident.id}&limit=1`);
  const { batch, job } = await makeBatch(world);
  // Two rounds of polls with the trouble in them.
  await pause(seconds * 2500);
  return { incident: incident.id, alert: alerts[0].id, batch, job };
}

/** A switch that answers: the pictures of a target are of one that has something to show. */
async function wellSwitch(world) {
  const { columns } = await world.api('GET', 'api/fleet');
  const at = columns.key.findIndex((key, row) => key.startsWith('snmp-interfaces::sw-') && columns.state[row] === 'up' && columns.alerts[row] === 0 && columns.parents[row].every((parent) => parent !== 'sw-00001'));
  return columns.device[at] ?? 'sw-00002';
}

async function take(size) {
  const devices = Math.max(2, Math.round(size / 2));
  const http = Math.max(1, Math.round(devices / 5));
  const seconds = size > 1000 ? 30 : 10;
  const world = new World({ snmp: devices - http, http, profile: size > 50 ? 'demo' : 'calm', interval: `${seconds}s`, leftOut: 'none' });
  const complaints = [];
  let browser;
  let count = 0;
  try {
    await world.start();
    const made = await furnish(world, devices - http, docs ? 100_000 : 20_000, seconds);
    const well = await wellSwitch(world);
    browser = await launch();
    // One login for all looks, which are taken side by side: most of the time a page waits for its answers.
    await world.storageOf(kAdmin, browser);
    const screens = [...kScreens, ...madeScreens(made), { name: 'fleet-phone', hash: '#/fleet' }].filter(
      ({ name }) => name.includes(only) && (docs ? name in kShown : name !== 'fleet-phone'),
    );
    const folder = docs ?? `${out}/${size}`;
    mkdirSync(folder, { recursive: true });
    const takeLook = async ([look, settings]) => {
      const visit = new Visit(world, browser, { expects: [/status of 404/] });
      const page = await visit.as(kAdmin, '#/', settings);
      for (const { name, hash } of screens) {
        if (docs && kShown[name] !== look) continue;
        await visit.go(hash.replace('sw-00002', well) + (docs && name === 'target' ? '?range=15m' : ''));
        await settle(visit);
        // The statistics of the scheduler come each second.
        await page.waitForTimeout(docs ? 2500 : 500);
        await page.screenshot({ path: docs ? `${folder}/${name}.png` : `${folder}/${name}-${look}.png` });
        count += 1;
        for (const line of await textTrouble(visit)) complaints.push(`${size} ${name} ${look}: ${line}`);
      }
      for (const line of visit.heard()) complaints.push(`${size} ${look}: ${line}`);
      await visit.close();
    };
    await Promise.all(Object.entries(kLooks).map(takeLook));
  } finally {
    await browser?.close();
    await world.remove();
  }
  console.log(`${size} targets: ${count} pictures`);
  return complaints;
}

const complaints = [];
for (const size of sizes) complaints.push(...(await take(size)));
for (const line of complaints) console.log(line);
console.log(complaints.length === 0 ? 'nothing to complain about' : `${complaints.length} complaints`);
process.exit(complaints.length > 0 ? 1 : 0);
