// Names and texts that would break or run in a page that took them for anything but text: of devices, of other
// systems, and of people; everywhere where a screen shows one.
import assert from 'node:assert/strict';
import { until } from './world.mjs';

export const kHostile = [
  `"quoted" 'single' & <b>bold</b>`,
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(2)>',
  '\u202Egnp.exe\u202C rtl \u05D0\u05D1\u05D2',
  'javascript:alert(3)',
  `${'long-'.repeat(39)}name!`,
];
export const kHostileGroup = '<img src=x onerror=alert(8)> & "group"';
export const kHostileText = '<img src=x onerror=alert(9)> <b>bold</b>';
const kLost = '<img src=x onerror=alert(12)> lost';
export const kLostKey = `http-json::${kLost}`;
export const kReceiver = '<img src=x onerror=alert(13)> & <b>team</b>';

const unlessThere = (promise) =>
  promise.catch((error) => {
    if (!/: 409 /.test(error.message)) throw error;
    return null;
  });

export async function addHostile(world) {
  const port = await world.startDevice(() => ({
    body: JSON.stringify({ value: 7, state: '<img src=x onerror=alert(4)>', rows: [{ name: '"><script>alert(5)</script>', value: 1 }, { name: '\u202Eevil', value: 2 }] }),
  }));
  await unlessThere(world.api('POST', 'api/groups', { name: kHostileGroup }));
  await world.add(...kHostile.map((device) => ({
    addon: 'http-json', device,
    device_spec: { address: '127.0.0.1', groups: [kHostileGroup], labels: { note: '<script>alert(6)</script>' } },
    spec: { port, params: { state_path: '$.state', rows_path: '$.rows[*]', warn_above: '5' } },
  })));
  // Another system tells of an alert, in its own words.
  await world.api('POST', 'api/v2/alerts', [{
    labels: { alertname: '<script>alert(10)</script>', severity: 'major', place: '"><img src=x onerror=alert(11)>' },
    annotations: { summary: kHostileText, description: `${kHostileText} ${'long-'.repeat(40)}` },
    endsAt: new Date(Date.now() + 3_600_000).toISOString(),
  }]);
  const job = await world.api('POST', 'api/jobs', { name: 'x', jobs: [{ name: '<script>alert(7)</script>', type: 'poll', target: 'snmp-system::sw-00001', labels: { a: '<b>' } }] });
  const incidents = await until('the incidents of hostile devices', async () => {
    const { items } = await world.api('GET', 'api/incidents?status=open&limit=200');
    const found = [...kHostile.map((name) => items.find((one) => one.device_name === name)), items.find((one) => one.title.includes('onerror=alert(9)'))];
    return found.every((one) => one !== undefined) && found;
  });
  return { job: job.ids[0], batch: job.batch, incidents };
}

/** What fails, in words of its own: for good, which is set aside, and for now, which opens a breaker. */
async function addFailing(world) {
  const body = `<script>alert(14)</script> ${kHostileText}`;
  for (const [device, status, list] of [[kLost, 401, 'dlq'], ['<img src=x onerror=alert(20)> moody', 503, 'breakers']]) {
    const port = await world.startDevice(() => ({ status, type: 'text/html', body }));
    await world.add({ addon: 'http-json', device, device_spec: { address: '127.0.0.1', groups: [kHostileGroup] }, spec: { port, interval: '60s' } });
    await until(`the hostile one among the ${list}`, async () => {
      if ((await world.api('GET', `api/monitoring/${list}?limit=1000`)).items.some((one) => one.key === `http-json::${device}`)) return true;
      await world.api('POST', `api/targets/${encodeURIComponent(`http-json::${device}`)}/poll`);
      return false;
    });
  }
}

/** Somebody who is told, and refuses what is told, in words of their own. */
async function addReceiver(world) {
  const port = await world.startDevice(() => ({ status: 400, type: 'text/html', body: `<script>alert(15)</script> ${kHostileText}` }));
  await unlessThere(world.api('POST', 'api/receivers', { name: kReceiver, channels: [{ name: '<b>hook</b>', kind: 'webhook', url: `http://127.0.0.1:${port}/hook` }] }));
  await unlessThere(world.api('POST', 'api/routes', { name: '<img src=x onerror=alert(16)>', at_least: 'critical', receivers: [kReceiver] }));
  const { notifications } = await world.api('POST', `api/receivers/${encodeURIComponent(kReceiver)}/test`, {});
  await until('the refused message', async () => (await world.api('GET', `api/notifications/${notifications[0]}`)).state === 'failed');
}

/** A world in which no screen is empty, and every text that somebody or something could choose is hostile; made once. */
export async function furnish(world) {
  if (world.furnished !== undefined) return world.furnished;
  const { job, batch, incidents } = await addHostile(world);
  await addFailing(world);
  await addReceiver(world);
  await unlessThere(world.api('POST', 'api/silences', {
    name: '<img src=x onerror=alert(17)>', match: ['device="<img src=x onerror=alert(18)>"'], until: new Date(Date.now() + 3_600_000).toISOString(), owner: 'admin', reason: kHostileText,
  }));
  await unlessThere(world.api('POST', 'api/users', { name: 'mallory', display: '<img src=x onerror=alert(19)> <b>M</b>', password: 'a long way round', grants: [{ role: 'viewer', selector: 'site=berlin' }] }));
  await unlessThere(world.api('POST', 'api/tokens', { name: 'look', scopes: ['monitoring:read'] }));
  await world.set({ status_page: true, status_page_title: 'Our <b>net</b>', reason: kHostileText });
  await world.api('POST', `api/incidents/${incidents[1].id}/notes`, { note: kHostileText, public: true });
  const held = await world.api('POST', 'api/jobs', { name: '<b>later</b>', jobs: [{ name: '<b>parent</b>', type: 'poll', target: 'snmp-system::sw-00001', hold: true }, { name: '<b>child</b>', type: 'poll', target: 'snmp-system::sw-00001', depends_on: ['<b>parent</b>'] }] });
  const { items: alerts } = await world.api('GET', `api/alerts?target=${encodeURIComponent(`http-json::${kHostile[1]}`)}&limit=1`);
  world.furnished = { incident: incidents[1].id, strange: incidents[6].id, alert: alerts[0].id, job, held: held.ids[0], batch };
  return world.furnished;
}

/** What was text stayed text, and made nothing wider than the page. */
export async function unharmed(page, where) {
  assert.equal(await page.locator('body :is(b, img[src="x"], script:not([src]))').count(), 0, `${where}: no element was made of a text`);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${where} is not wider than the page`);
}
