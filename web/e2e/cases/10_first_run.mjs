// From nothing to an incident that is over: the way everybody goes once.
import assert from 'node:assert/strict';
import { judgeScreen } from '../judge.mjs';
import { kAdmin, until, World } from '../world.mjs';

const kUnknown = /status of 401/; // a page that is not logged in asks who it is

async function makeAdmin(page, world) {
  await page.goto(world.url);
  await page.getByRole('heading', { name: 'Welcome to Pollux' }).waitFor();
  await page.getByLabel('One-time token').fill(world.bootstrapToken);
  await page.getByLabel('Name', { exact: true }).fill(kAdmin.name);
  await page.getByLabel('Password', { exact: true }).fill(kAdmin.password);
  await page.getByLabel('Password once more').fill(kAdmin.password);
  await page.getByRole('button', { name: 'Make the first admin' }).click();
}

/** In the dialog: a simulated switch, which then answers. */
async function addSwitch(page, world, address, name) {
  await page.getByLabel('Address').fill(address);
  await page.getByLabel('Name of the device').fill(name);
  await page.getByLabel('How it is polled').selectOption('snmp-system');
  await page.getByText('More settings').click();
  await page.getByLabel('Port').fill(String(world.ports.snmp));
  await page.getByRole('button', { name: 'Add and test' }).click();
  await page.getByText('It answers').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).first().click();
}

export default [
  {
    name: 'first run: token, admin, device, live value, outage, incident, acknowledged, recovery',
    minutes: 5,
    expects: [kUnknown, /ERR_FAILED .*api\/fleet$/],
    run: async (visit, world) => {
      const page = await visit.stranger();
      await makeAdmin(page, world);
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      await page.getByText('Live', { exact: true }).waitFor();

      await page.goto(`${world.url}/#/fleet`);
      await page.getByRole('grid', { name: 'Targets' }).waitFor();
      await page.keyboard.press('a');
      await addSwitch(page, world, '127.16.0.8', 'by-hand');

      // Its value moves without a reload. The page may not ask for the fleet meanwhile, so only events can move it;
      // the age counts up by itself, so only falling is news.
      await page.goto(`${world.url}/#/fleet?filter=by-hand`);
      const age = page.locator('.table-row', { hasText: 'by-hand' }).locator('.age-ring .word');
      await age.waitFor();
      await page.route(/\/api\/fleet$/, (route) => route.abort());
      let falls = 0;
      let before = 0;
      await until('the age of the value to start over twice', async () => {
        const now = Number.parseFloat(await age.textContent());
        if (now < before) falls += 1;
        before = now;
        return falls >= 2;
      });
      await page.unroute(/\/api\/fleet$/);

      await world.break('sw-00008', 'down');
      await page.goto(`${world.url}/#/incidents`);
      const incident = page.getByRole('link', { name: /by-hand/ }).first();
      await incident.waitFor({ timeout: 120_000 });
      await incident.click();
      await page.waitForURL(/incidents\//).catch(() => undefined);
      await page.getByRole('button', { name: 'Acknowledge', exact: true }).first().click();
      await page.getByLabel('Note (optional)').fill('on my way');
      await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
      await page.getByText('The incident is acknowledged').waitFor();
      await page.getByText('on my way').first().waitFor();

      await world.mend('sw-00008');
      await page.locator('.incident-summary').getByText('resolved').waitFor({ timeout: 180_000 });
      await page.goto(`${world.url}/#/fleet?filter=by-hand`);
      await page.locator('.table-row', { hasText: 'by-hand' }).getByText('up', { exact: true }).waitFor({ timeout: 60_000 });
    },
  },
  {
    name: 'a server with nothing to watch leads to the first device, and says what its environment fixes',
    expects: [kUnknown],
    run: async (visit, world) => {
      const empty = new World({ beside: world, environment: { ADAPTIVE_POLLING_MAX_INTERVAL: '4m' } });
      try {
        await empty.start();
        visit.welcome(empty.url);
        const page = await visit.stranger();
        await page.goto(empty.url);
        await page.getByRole('heading', { name: 'Welcome to Pollux' }).waitFor();
        assert.deepEqual(await judgeScreen(visit), [], 'the first screen of all');
        await makeAdmin(page, empty);
        await page.getByRole('heading', { name: 'Nothing is watched yet', level: 1 }).waitFor();
        assert.deepEqual(await judgeScreen(visit), [], 'the way to the first device');
        await page.getByRole('button', { name: 'Add a device' }).click();
        await addSwitch(page, empty, '127.16.0.2', 'the-first');
        await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
        const counts = page.getByRole('region', { name: 'Targets by state' }).getByRole('listitem');
        await until('the overview to count it as up', async () => (await counts.filter({ hasText: /^1\s*up$/ }).count()) === 1);
        assert.equal((await counts.locator('.overview-count').allTextContents()).reduce((sum, text) => sum + Number(text), 0), 1, 'and nothing else');

        await page.goto(`${empty.url}/#/settings`);
        const fixed = page.getByLabel('Longest interval (adaptive, Proxmox)', { exact: true });
        await fixed.waitFor();
        assert.equal(await fixed.inputValue(), '4m');
        assert.ok(await fixed.isDisabled(), 'who edits it here would change nothing');
        await page.getByText('Set by the environment (ADAPTIVE_POLLING_MAX_INTERVAL)').waitFor();
      } finally {
        await visit.close(); // nothing it says of a server that is gone belongs to the case
        await empty.remove();
      }
    },
  },
];
