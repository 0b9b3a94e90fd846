// One target from near by: why it waits, its runs, and pausing it.
import assert from 'node:assert/strict';
import { kAdmin, until } from '../world.mjs';

const kKey = 'http-json::gadget';
const kPath = encodeURIComponent(kKey);

// Asked once in an hour by itself, so that everything that happens here was wanted.
async function addGadget(world) {
  world.gadget ??= { asked: 0 };
  world.gadget.port ??= await world.startDevice(() => ({ body: JSON.stringify({ value: (world.gadget.asked += 1) }) }));
  await world.add({ addon: 'http-json', device: 'gadget', device_spec: { address: '127.0.0.1' }, spec: { port: world.gadget.port, interval: '1h', staleness_bound: '6h', adaptive: false } });
  await until('its first answer', async () => (await world.row(kKey)).state === 'up');
  return world.gadget;
}

export default [
  {
    name: 'a target says why it waits, is polled now, and its runs tell it',
    run: async (visit, world) => {
      const gadget = await addGadget(world);
      const page = await visit.as(kAdmin, `#/targets/${kPath}`);
      await page.getByRole('link', { name: 'Why?' }).click();
      const gates = page.getByRole('region', { name: 'Gates' });
      await gates.getByRole('heading', { name: /^It waits for its time: the next poll is in \d+ min/ }).waitFor();
      await gates.getByRole('listitem').filter({ hasText: /2\. due closed\..*Not yet: in \d+ min/ }).waitFor();
      assert.equal(await gates.getByRole('listitem').filter({ hasText: ' closed.' }).count(), 1, 'nothing else holds it back');
      await page.getByRole('heading', { name: 'Why every 1 h?' }).waitFor();

      const before = gadget.asked;
      await page.getByRole('button', { name: 'Poll now' }).click();
      await page.getByText(/^http-json::gadget answered in/).waitFor();
      assert.equal(gadget.asked, before + 1);
      await page.getByRole('tab', { name: 'Runs' }).click();
      const runs = page.getByRole('grid', { name: `Runs of ${kKey}` });
      await runs.getByRole('row').filter({ hasText: 'operator' }).first().waitFor();
      const { items } = await world.api('GET', `api/targets/${kPath}/runs?limit=50`);
      assert.equal(items.length, gadget.asked, 'each question is a run');
      assert.equal(await runs.locator('.table-row').count(), items.length);
      assert.equal(await runs.locator('.table-row .state-mark', { hasText: 'ok' }).count(), items.length);
    },
  },
  {
    name: 'a target is paused with a reason, says so, and is polled again',
    run: async (visit, world) => {
      await addGadget(world);
      const page = await visit.as(kAdmin, `#/targets/${kPath}?tab=why`);
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: 'Pause', exact: true }).click();
      await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
      await dialog.getByText('A reason is needed.').waitFor();
      await dialog.getByLabel('Reason').fill('moves to another rack');
      await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
      await page.getByText(`${kKey} is paused`).waitFor();
      await page.locator('.object-head .state-mark', { hasText: 'disabled' }).waitFor();
      await page.getByRole('region', { name: 'Gates' }).getByRole('heading', { name: /^It is not polled:/ }).waitFor();
      const poll = page.getByRole('button', { name: 'Poll now' });
      assert.equal(await poll.getAttribute('aria-disabled'), 'true');
      assert.match(await poll.getAttribute('title'), /enable it first/);
      const { items } = await world.api('GET', 'api/audit?action=target.disable&limit=1');
      assert.equal(items[0]?.reason, 'moves to another rack');
      await page.getByRole('button', { name: 'Enable', exact: true }).click();
      await page.getByText(`${kKey} is polled again`).waitFor();
      await page.locator('.object-head .state-mark', { hasText: 'up' }).waitFor();
    },
  },
];
