// What admins set up for others: who is told, who may what, and whether the trail of it all is whole.
import assert from 'node:assert/strict';
import { kAdmin, until } from '../world.mjs';

/** A webhook that keeps what it was told; `refuses` is the status of its next answers. */
async function startHook(world) {
  const hook = { heard: [], refuses: 0 };
  hook.port = await world.startDevice((request, body) => {
    hook.heard.push({ path: request.url, method: request.method, status: hook.refuses || 200, body: JSON.parse(body) });
    return hook.refuses ? { status: hook.refuses, body: '{"sorry": "we are closed"}' } : { body: '{}' };
  });
  return hook;
}

const openMenu = (page, name, entry) => page.getByRole('button', { name: `Acts on ${name}` }).click().then(() => page.getByRole('menuitem', { name: entry }).click());

/** What the API answers to somebody with this token. */
const withToken = async (world, secret, method, path) => (await fetch(`${world.direct}/${path}`, { method, headers: { 'X-API-Token': secret, 'Content-Type': 'application/json' }, ...(method === 'GET' ? {} : { body: '{}' }) })).status;

export default [
  {
    name: 'a receiver is added and tested: its message arrives, is refused, and is tried once more',
    run: async (visit, world) => {
      const hook = await startHook(world);
      const page = await visit.as(kAdmin, '#/settings?tab=notifications');
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: 'Add a receiver' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('night-shift');
      await dialog.getByLabel('Kind').selectOption('webhook');
      await dialog.getByLabel('URL').fill(`http://127.0.0.1:${hook.port}/told`);
      await dialog.getByLabel('Name (optional)').fill('hook');
      await dialog.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByText('The receiver night-shift is stored.').waitFor();
      const card = page.getByRole('article', { name: 'Receiver night-shift' });
      await card.getByText('never used').waitFor();
      assert.equal(hook.heard.length, 0, 'nothing is sent unasked');

      const test = async (words) => {
        await card.getByRole('button', { name: 'Test' }).click();
        await dialog.getByText(words).waitFor();
        await dialog.getByRole('button', { name: 'Close' }).last().click();
      };
      await test('All channels took the message.');
      assert.deepEqual(hook.heard.map((one) => [one.method, one.path]), [['POST', '/told']]);
      assert.match(JSON.stringify(hook.heard[0].body), /test/i, 'it says that it is one');
      await card.getByText('works', { exact: true }).waitFor();
      const log = page.getByRole('grid', { name: 'Log of deliveries' });
      await page.getByLabel('Receiver', { exact: true }).selectOption('night-shift');
      const rows = log.locator('.table-row');
      await until('its line in the log', async () => (await rows.count()) === 1);
      await rows.first().getByText('delivered').waitFor();

      // A refusal for good is not tried again by itself; a person can.
      hook.refuses = 422;
      await test('Not all channels took the message.');
      assert.equal(hook.heard.length, 2);
      const refused = rows.filter({ hasText: 'failed' });
      await refused.getByText(/422/).waitFor();
      assert.equal(await rows.count(), 2);
      hook.refuses = 0;
      await refused.getByRole('button', { name: 'Try the message to night-shift once more' }).click();
      await page.getByText('The message to night-shift is tried once more.').waitFor();
      const sent = async () => (await world.api('GET', 'api/notifications?receiver=night-shift')).items;
      await until('both to be delivered', async () => (await sent()).every((one) => one.state === 'delivered'));
      await page.getByLabel('State', { exact: true }).selectOption('delivered');
      await until('the log to say so', async () => (await rows.filter({ hasText: 'delivered' }).count()) === 2);
      assert.deepEqual(hook.heard.map((one) => one.status), [200, 422, 200]);
      assert.deepEqual(hook.heard[2].body, hook.heard[1].body, 'the same message');
      assert.equal((await sent()).length, 2, 'and no new one');

      await openMenu(page, 'night-shift', 'Remove');
      await dialog.getByRole('button', { name: 'Remove' }).click();
      await page.getByText('night-shift is removed.').waitFor();
      assert.equal((await world.api('GET', 'api/receivers')).items.some((one) => one.name === 'night-shift'), false);
    },
  },
  {
    name: 'a user is added with a role, changed, and removed',
    expects: [/status of 4(01|22)/],
    run: async (visit, world) => {
      const page = await visit.as(kAdmin, '#/settings?tab=users');
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: 'Add a user' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('ulla');
      await dialog.getByLabel('Shown as (optional)').fill('Ulla of the night');
      await dialog.getByLabel('Role').selectOption('operator');
      await dialog.getByLabel('Password (optional)').fill('short');
      await dialog.getByRole('button', { name: 'Add', exact: true }).click();
      await dialog.getByText(/10/).first().waitFor();
      assert.equal((await world.api('GET', 'api/users')).items.some((one) => one.name === 'ulla'), false, 'a password that is too short is refused');
      await dialog.getByLabel('Password (optional)').fill('a light at night');
      await dialog.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByText('ulla is added.').waitFor();
      const row = page.getByRole('grid', { name: 'Users' }).locator('.table-row', { hasText: 'ulla' });
      await row.getByText('operator').waitFor();
      await row.getByText('can log in').waitFor();

      const other = await visit.as({ name: 'ulla', password: 'a light at night' }, '#/fleet');
      await other.locator('.table-row').first().waitFor();
      await openMenu(page, 'ulla', 'Edit');
      await dialog.getByLabel(/^Disabled:/).check();
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByText('ulla is changed.').waitFor();
      await row.getByText('disabled').waitFor();
      await other.reload();
      await other.getByRole('heading', { name: 'Log in to Pollux' }).waitFor();

      await openMenu(page, 'ulla', 'Remove');
      await dialog.getByRole('button', { name: 'Remove' }).click();
      await page.getByText('ulla is removed.').waitFor();
      await row.waitFor({ state: 'detached' });
      assert.equal((await world.api('GET', 'api/users')).items.some((one) => one.name === 'ulla'), false);
    },
  },
  {
    name: 'a token is made, shown once, may what its scope says, and is refused once revoked',
    run: async (visit, world) => {
      const page = await visit.as(kAdmin, '#/settings?tab=tokens');
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: 'Make a token' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('e2e-reader');
      assert.ok(await dialog.getByLabel(/^monitoring:read/).isChecked(), 'the least is proposed');
      await dialog.getByRole('button', { name: 'Make it' }).click();
      const secret = await dialog.getByLabel('Secret of the token').inputValue();
      assert.match(secret, /^plx/);
      const poll = `api/targets/${encodeURIComponent('snmp-system::sw-00002')}/poll`;
      assert.deepEqual([await withToken(world, secret, 'GET', 'api/fleet'), await withToken(world, secret, 'POST', poll), await withToken(world, secret, 'GET', 'api/audit')], [200, 403, 403]);
      await dialog.getByRole('button', { name: 'I have stored it' }).click();
      const row = page.getByRole('grid', { name: 'API tokens' }).locator('.table-row', { hasText: 'e2e-reader' });
      await row.getByText('monitoring:read').waitFor();
      assert.ok(!(await page.content()).includes(secret), 'it is not shown again');
      await row.getByRole('button', { name: 'Revoke e2e-reader' }).click();
      await dialog.getByRole('button', { name: 'Revoke' }).click();
      await page.getByText('The token e2e-reader is revoked.').waitFor();
      await row.waitFor({ state: 'detached' });
      assert.equal(await withToken(world, secret, 'GET', 'api/fleet'), 401);
    },
  },
  {
    name: 'the trail is checked, and tells who did what',
    run: async (visit, world) => {
      await world.ensureAdmin();
      await world.set({ status_page_title: 'Watched by e2e', reason: 'to be found in the trail' });
      const page = await visit.as(kAdmin, '#/settings?tab=audit');
      const check = page.getByRole('region', { name: 'Check of the trail' });
      await check.getByRole('button', { name: 'Check the trail' }).click();
      await check.getByText('The trail is whole').waitFor();
      const [, shown, first, last] = /([\d,]+) records \(([\d,]+) to ([\d,]+)\)/.exec(await check.innerText());
      const number = (text) => Number(text.replaceAll(',', ''));
      const verdict = await world.api('GET', 'api/audit/verify');
      assert.equal(verdict.ok, true);
      assert.equal(number(first), verdict.first);
      assert.ok(number(last) <= verdict.last && number(shown) === number(last) - number(first) + 1, 'all of them were read');

      await page.getByLabel('What', { exact: true }).fill('settings.');
      const row = page.getByRole('grid', { name: 'Audit trail' }).locator('.table-row', { hasText: 'to be found in the trail' }).first();
      await row.getByText('user:admin').waitFor();
      await row.getByText('allowed').waitFor();
      await row.click();
      const dialog = page.getByRole('dialog', { name: /^Record/ });
      await dialog.getByText('Watched by e2e').waitFor();
    },
  },
];
