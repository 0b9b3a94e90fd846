// One cause, one incident: what stands behind a dead device, a silence, and what is said about it to whom.
import assert from 'node:assert/strict';
import { kAdmin, until } from '../world.mjs';

const kRoot = 'uplink-of-bonn';
const kLeaf = 'till-in-bonn';
const kGroup = 'bonn';

export default [
  {
    name: 'a dead parent is one incident: its tree, a silence, a note for us, and one for everybody',
    minutes: 4,
    run: async (visit, world) => {
      let away = false;
      const port = await world.startDevice(() => (away ? null : { body: '{"value": 1}' }));
      const device = (name, more) => ({ addon: 'http-json', device: name, device_spec: { address: '127.0.0.1', groups: [kGroup], ...more }, spec: { port } });
      await world.api('POST', 'api/groups', { name: kGroup });
      await world.add(device(kRoot));
      await world.add(device(kLeaf, { parents: [kRoot] }));
      const state = async (name) => (await world.row(`http-json::${name}`)).state;
      await until('both to be up', async () => (await state(kRoot)) === 'up' && (await state(kLeaf)) === 'up');
      away = true;
      const page = await visit.as(kAdmin, '#/incidents');
      await page.getByRole('link', { name: new RegExp(kRoot) }).first().click();
      const tree = page.getByRole('region', { name: 'Cause and what follows from it' });
      const leaf = tree.getByRole('button', { name: new RegExp(`${kLeaf}.*suppressed`) });
      await leaf.waitFor();
      await leaf.click();
      await page.getByRole('region', { name: 'Evidence' }).getByText('what it stands behind is down').waitFor();
      const open = (await world.api('GET', 'api/incidents?status=open')).items.map((one) => one.device_name);
      assert.deepEqual([open.includes(kRoot), open.includes(kLeaf)], [true, false], 'what follows is no incident of its own');
      await until('the one behind it to be called unreachable', async () => (await state(kLeaf)) === 'unreachable');

      await page.getByRole('button', { name: 'Silence', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Reason').fill('the provider knows');
      await dialog.getByRole('button', { name: /^Silence until/ }).click();
      await page.getByText(new RegExp(`^Messages about ${kRoot} wait until`)).waitFor();
      const silence = (await world.api('GET', 'api/silences')).items.find((one) => one.spec.reason === 'the provider knows');
      assert.deepEqual(silence.spec.match, [`device="${kRoot}"`]);
      await world.api('POST', `api/silences/${encodeURIComponent(silence.name)}/expire`);

      const notes = page.getByRole('region', { name: 'Notes' });
      const write = async (text, told) => {
        await notes.getByLabel('Write a note').fill(text);
        await notes.getByRole('button', { name: 'Add the note' }).click();
        await page.getByText(told, { exact: true }).waitFor();
        await notes.getByText(text, { exact: true }).waitFor();
      };
      await write('Ticket 4711 at the provider', 'The note is written');
      await notes.getByLabel('Show it on the public status page').check();
      await write('The line to Bonn is cut. Repair until 16:00.', 'The note is written, and shown on the status page');

      // What everybody reads: the public words and the group, neither the other note nor the devices.
      await world.set({ status_page: true });
      await until('the public note to be told', async () => (await (await fetch(`${world.direct}/api/status-page`)).text()).includes('The line to Bonn'));
      const outside = await visit.stranger();
      await outside.goto(`${world.url}/status`);
      const told = outside.getByRole('listitem').filter({ hasText: 'The line to Bonn is cut. Repair until 16:00.' }).first();
      await told.getByText(kGroup).first().waitFor();
      await told.getByText(/^since .* so far$/).waitFor();
      const all = await outside.locator('body').innerText();
      for (const secret of [kRoot, kLeaf, '4711', '127.0.0.1', 'admin']) assert.ok(!all.includes(secret), `${secret} is nobody's business`);

      away = false;
      await page.locator('.incident-summary').getByText('resolved').waitFor();
      await tree.getByRole('button', { name: new RegExp(`${kLeaf}.*resolved`) }).waitFor();
      await until('both to be up again', async () => (await state(kRoot)) === 'up' && (await state(kLeaf)) === 'up');
    },
  },
];
