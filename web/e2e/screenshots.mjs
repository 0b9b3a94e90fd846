// A picture of every screen: light, dark and on a phone, with few, many and very many targets.
//   POLLUX_BIN=… node e2e/screenshots.mjs [--sizes 10,800,5000] [--only part-of-a-name] [--out shots] [--docs FOLDER]
// gives shots/800/fleet-dark.png and so on. --docs takes only the dozen of the documentation, at one size.
// Ends with 1 if a page complained, or if a text lies on another or out of its box.
import { mkdirSync } from 'node:fs';
import { launch } from './browser.mjs';
import { kScreens, makeBatch, settle } from './screens.mjs';
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

/** Texts that lie on each other, or are cut where nothing says so; as lines. */
function overlaps() {
  const found = [];
  const seen = (box) => box.width > 1 && box.height > 1;
  for (const one of document.querySelectorAll('h1, h2, h3, p, td, th, dt, dd, label, button, a, [role=gridcell], [role=columnheader], [role=tab]')) {
    const style = getComputedStyle(one);
    if (style.visibility === 'hidden' || !seen(one.getBoundingClientRect())) continue;
    const told = style.textOverflow === 'ellipsis' || style.overflowX === 'auto' || style.overflowX === 'scroll' || one.closest('.seen-by-readers, canvas');
    if (!told && style.overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1) found.push(`cut: ${one.tagName} ${one.className} "${one.textContent.slice(0, 40)}"`);
  }
  // Lines of text of the same container that cross each other.
  const lines = [];
  const walk = document.createTreeWalker(document.querySelector('main') ?? document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walk.nextNode() && lines.length < 3000) {
    const node = walk.currentNode;
    if (node.textContent.trim() === '' || node.parentElement.closest('.seen-by-readers, svg, textarea, pre, [aria-hidden=true]')) continue;
    const own = getComputedStyle(node.parentElement);
    if (own.visibility === 'hidden' || own.position === 'absolute') continue;
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
      if (seen(box) && at !== null && (at.contains(node) || node.parentElement.contains(at))) lines.push({ box, text: node.textContent.trim().slice(0, 30) });
    }
  }
  for (let a = 0; a < lines.length; a += 1) {
    for (let b = a + 1; b < lines.length; b += 1) {
      const [one, two] = [lines[a].box, lines[b].box];
      const wide = Math.min(one.right, two.right) - Math.max(one.left, two.left);
      const high = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
      if (wide > 3 && high > Math.min(one.height, two.height) * 0.5) found.push(`on each other: "${lines[a].text}" and "${lines[b].text}"`);
    }
  }
  return [...new Set(found)].slice(0, 10);
}

/** People, a time of calm for the charts, then trouble and work, so that no screen is empty. */
async function furnish(world, switches, calm) {
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
  const batch = await makeBatch(world);
  // Two rounds of polls with the trouble in them.
  await pause(45_000);
  return { incident: incident.id, batch };
}

async function take(size) {
  const devices = Math.max(2, Math.round(size / 2));
  const http = Math.max(1, Math.round(devices / 5));
  const world = new World({ snmp: devices - http, http, profile: size > 50 ? 'demo' : 'calm', interval: size > 1000 ? '30s' : '10s', leftOut: 'none' });
  const complaints = [];
  let browser;
  let count = 0;
  try {
    await world.start();
    const { incident, batch } = await furnish(world, devices - http, docs ? 240_000 : 20_000);
    browser = await launch();
    const screens = [
      ...kScreens, { name: 'incident', hash: `#/incidents/${encodeURIComponent(incident)}` }, { name: 'batch', hash: `#/jobs/batches/${batch}` }, { name: 'fleet-phone', hash: '#/fleet' },
      { name: 'status', hash: 'status' }, { name: 'nothing-here', hash: '#/targets/nobody%3A%3Anowhere' },
    ].filter(({ name }) => name.includes(only) && (docs ? name in kShown : name !== 'fleet-phone'));
    const folder = docs ?? `${out}/${size}`;
    mkdirSync(folder, { recursive: true });
    for (const [look, settings] of Object.entries(kLooks)) {
      const visit = new Visit(world, browser, { expects: [/status of 404/] });
      const page = await visit.as(kAdmin, '#/', settings);
      for (const { name, hash } of screens) {
        if (docs && kShown[name] !== look) continue;
        await visit.go(hash);
        await settle(page);
        // The statistics of the scheduler come each second.
        await page.waitForTimeout(docs ? 3000 : 500);
        await page.screenshot({ path: docs ? `${folder}/${name}.png` : `${folder}/${name}-${look}.png` });
        count += 1;
        for (const line of await page.evaluate(overlaps)) complaints.push(`${size} ${name} ${look}: ${line}`);
      }
      for (const line of visit.heard()) complaints.push(`${size} ${look}: ${line}`);
      await visit.close();
    }
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
