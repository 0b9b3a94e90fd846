// The fleet as somebody works with it all day: by keyboard, in bulk, on a phone, with a login that ends.
import assert from 'node:assert/strict';
import { kAdmin, until } from '../world.mjs';

async function choose(page, count) {
  for (let at = 0; at < count; at += 1) {
    await page.keyboard.press('j');
    await page.keyboard.press('x');
  }
  await page.getByText(`${count} targets selected`).waitFor();
}

export default [
  {
    name: 'the overview counts every target, and its map is walked by keyboard',
    run: async (visit, world) => {
      const page = await visit.as(kAdmin, '#/');
      await page.getByText('Live', { exact: true }).waitFor();
      await page.getByRole('region', { name: 'Needs attention' }).waitFor();
      const { items } = await world.api('GET', 'api/targets?limit=200');
      await until('all targets to be counted', async () => {
        const counts = await page.locator('.overview-count').allTextContents();
        return counts.reduce((sum, text) => sum + Number(text.replaceAll(',', '')), 0) === items.length;
      });
      await page.locator('.overview-heat canvas').focus();
      await page.keyboard.press('ArrowRight');
      assert.match(await page.locator('.overview-chosen strong').textContent(), /::/);
    },
  },
  {
    name: 'the fleet is filtered, walked and polled by keyboard',
    run: async (visit) => {
      const page = await visit.as(kAdmin, '#/');
      await page.keyboard.press('g');
      await page.keyboard.press('f');
      await page.getByRole('grid', { name: 'Targets' }).waitFor();
      await page.locator('.table-row').first().waitFor();
      await page.keyboard.press('f');
      await page.keyboard.type('addon:snmp-sys');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      assert.match(page.url(), /filter=addon%3Asnmp-system/);
      const addons = await page.locator('.table-row .table-cell:nth-child(4)').allTextContents();
      assert.ok(addons.length > 5);
      assert.deepEqual([...new Set(addons)], ['snmp-system']);
      await choose(page, 2);
      await page.keyboard.press('p');
      await page.getByText('2 targets polled now').waitFor();
    },
  },
  {
    name: 'the table asks for what changed and for the values in sight, and shows what is true',
    minutes: 4,
    run: async (visit, world) => {
      let value = 1;
      const port = await world.startDevice(() => ({ body: JSON.stringify({ value }) }));
      await world.add({ addon: 'http-json', device: 'meter', device_spec: { address: '127.0.0.1' }, spec: { port, interval: '3s', adaptive: false } });
      await until('its first answer', async () => (await world.row('http-json::meter')).state === 'up');
      const page = await visit.as(kAdmin, '#/');
      await page.getByText('Live', { exact: true }).waitFor();
      // From here on nothing is fetched whole.
      const asked = [];
      page.on('request', (request) => asked.push(new URL(request.url())));
      const fetches = () => asked.filter(({ pathname }) => pathname.endsWith('/api/fleet'));
      await page.goto(`${world.url}/#/fleet?filter=device%3Ameter`);
      const row = page.locator('.table-row').filter({ hasText: 'meter' });
      await row.waitFor();
      for (value of [41.5, 87.5]) await row.getByText(String(value)).waitFor();
      await world.api('POST', 'api/targets/http-json%3A%3Ameter/disable', { reason: 'e2e' });
      await row.getByText('disabled').waitFor();
      await until('what changed to be asked for', () => fetches().some(({ searchParams }) => searchParams.has('since')));
      assert.ok(fetches().some(({ searchParams }) => searchParams.getAll('target').includes('http-json::meter')));
      assert.deepEqual(fetches().filter(({ search }) => search === '').map(String), []);
      // Sorted by values, those that are out of sight count too.
      await page.getByRole('columnheader', { name: 'Values' }).getByRole('button').click();
      await until('all values to be followed', () => fetches().some(({ searchParams }) => searchParams.has('values')));
    },
  },
  {
    name: 'targets are disabled, enabled and silenced in bulk, with a reason',
    run: async (visit, world) => {
      const page = await visit.as(kAdmin, '#/fleet?filter=addon%3Asnmp-system');
      await page.locator('.table-row').first().waitFor();
      await choose(page, 2);
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: 'Disable', exact: true }).click();
      await dialog.getByLabel('Reason (optional)').fill('trial');
      await dialog.getByRole('button', { name: 'Disable', exact: true }).click();
      await page.getByText('2 targets disabled').waitFor();
      await page.locator('.table-row .state-mark', { hasText: 'disabled' }).first().waitFor();
      await page.getByRole('button', { name: 'Enable', exact: true }).click();
      await dialog.getByRole('button', { name: 'Enable', exact: true }).click();
      await page.getByText('2 targets enabled').waitFor();
      await page.getByRole('button', { name: 'Silence', exact: true }).click();
      await dialog.getByRole('button', { name: 'Silence', exact: true }).click();
      await page.getByText('A reason is needed.').waitFor();
      await dialog.getByLabel('Reason').fill('trial');
      await dialog.getByRole('button', { name: 'Silence', exact: true }).click();
      await page.getByText('2 targets silenced').waitFor();
      const { items } = await world.api('GET', 'api/silences');
      assert.equal(items.length, 1);
      await world.api('POST', `api/silences/${encodeURIComponent(items[0].name)}/expire`);
    },
  },
  {
    name: 'the fleet is grouped, and a group is closed by keyboard',
    run: async (visit, world) => {
      const page = await visit.as(kAdmin, '#/fleet', { viewport: { width: 1360, height: 2400 } });
      await page.getByRole('grid', { name: 'Targets' }).waitFor();
      await page.getByLabel('Group by').selectOption('addon');
      const table = page.getByRole('treegrid', { name: 'Targets' });
      await table.waitFor();
      const heads = table.locator('.table-row.group');
      const { addon: addons } = (await world.api('GET', 'api/fleet')).columns;
      const names = [...new Set(addons)].sort();
      await until('a head for each addon', async () => (await heads.count()) === names.length);
      assert.deepEqual(await heads.locator('.sticky > .cut').allTextContents(), names);
      const rows = table.locator('.table-row:not(.group)');
      const before = await rows.count();
      const members = addons.filter((addon) => addon === names[0]).length;
      await table.focus();
      await page.keyboard.press('Home');
      await page.keyboard.press('ArrowLeft');
      await until('its members to be out of sight', async () => (await rows.count()) === before - members);
      assert.equal(await heads.first().getAttribute('aria-expanded'), 'false');
      await page.keyboard.press('ArrowRight');
      await until('them to be there again', async () => (await rows.count()) === before);
      await page.reload();
      await heads.first().waitFor(); // it is in the address
    },
  },
  {
    name: 'the appearance is chosen, and kept',
    run: async (visit) => {
      const page = await visit.as(kAdmin, '#/jobs', { colorScheme: 'light' });
      const look = () => page.evaluate(() => [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor]);
      const [, light] = await look();
      const choose = async (name) => {
        await page.getByRole('button', { name: /Account of/ }).click();
        await page.getByRole('menuitemcheckbox', { name }).click();
        await page.keyboard.press('Escape');
      };
      await choose('Dark');
      await page.reload();
      await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
      const [theme, dark] = await look();
      assert.equal(theme, 'dark', 'also after a reload, and against the system');
      assert.notEqual(dark, light);
      await choose('As the system');
      assert.deepEqual(await look(), ['light', light]);
    },
  },
  {
    name: 'a device tells what was learned about asking it',
    run: async (visit) => {
      const page = await visit.as(kAdmin, '#/devices/sw-00002?tab=snmp');
      const profile = page.getByRole('region', { name: /SNMP profile of 127\.16\.0\.2/ });
      await profile.getByText('Rows in a bulk answer').waitFor();
      assert.match(await profile.innerText(), /Requests at once\s+\d+ requests/);
    },
  },
  {
    name: 'on a phone the fleet is one column of cards',
    run: async (visit) => {
      const page = await visit.as(kAdmin, '#/fleet', { viewport: { width: 390, height: 844 } });
      await page.locator('.fleet-card').first().waitFor();
      assert.ok((await page.locator('.fleet-card').count()) > 3);
      assert.equal(await page.getByRole('columnheader').first().isVisible(), false, 'without titles of columns');
    },
  },
  {
    name: 'logging in with a wrong password, out and in again',
    expects: [/status of 401/],
    run: async (visit, world) => {
      await world.ensureAdmin();
      const page = await visit.stranger();
      await page.goto(world.url);
      const logIn = async (password) => {
        await page.getByRole('heading', { name: 'Log in to Pollux' }).waitFor();
        await page.getByLabel('Name').fill(kAdmin.name);
        await page.getByLabel('Password').fill(password);
        await page.getByRole('button', { name: 'Log in' }).click();
      };
      await logIn('wrong password');
      await page.getByRole('alert').waitFor();
      await logIn(kAdmin.password);
      await page.getByRole('button', { name: /Account of/ }).click();
      await page.getByRole('menuitem', { name: 'Log out' }).click();
      await logIn(kAdmin.password);
      await page.getByRole('navigation', { name: 'Screens' }).waitFor();
      // Nothing that scripts can read tells who is logged in.
      const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
      assert.doesNotMatch(kept, /plx|session|csrf|token/i);
    },
  },
];
