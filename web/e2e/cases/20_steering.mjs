// What people steer: adaptive polling, breakers, dead letters, versions of settings, and who may.
import assert from 'node:assert/strict';
import { kAdmin, kPatience, until } from '../world.mjs';

const kOperators = /needs operator or admin/;
const kAdmins = /needs admin/;

async function setAdaptive(page, on) {
  const box = page.getByLabel('Adaptive polling', { exact: true });
  await box.waitFor();
  if ((await box.isChecked()) === on) return false;
  await box.click();
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText(/Stored as version \d+ and in force/).first().waitFor();
  return true;
}

/** Wants a password and has none: a failure for good, told twice. */
async function makeDeadLetter(world) {
  await world.add({ addon: 'http-json', device: 'locked', device_spec: { address: '127.128.0.1' }, spec: { port: world.ports.http, params: { path: '/as/basic/status' } } });
  await until('the dead letter', async () => (await world.row('http-json::locked')).dead_letter, 3 * kPatience);
}

async function incidentOfDeadLetter(world) {
  return until('its incident', async () => (await world.api('GET', 'api/incidents?status=open')).items.find((one) => one.device_name === 'locked'));
}

/** What a page of somebody asks for without the page, with the right token. */
async function refusals(page, world, requests) {
  const { csrf_token: csrf } = await (await page.context().request.get(`${world.url}/api/me`)).json();
  const statuses = {};
  for (const [method, path, data] of requests) {
    const answer = await page.context().request.fetch(`${world.url}/${path}`, { method, data: data ?? {}, headers: { 'X-CSRF-Token': csrf } });
    statuses[`${method} ${path}`] = answer.status();
  }
  return statuses;
}

const all = (requests, status) => Object.fromEntries(requests.map(([method, path]) => [`${method} ${path}`, status]));

/** Controls that are there, cannot be used, and say who could. */
async function offFor(page, names, who) {
  for (const name of names) {
    const button = page.getByRole('button', { name, exact: true }).first();
    await button.waitFor();
    assert.equal(await button.getAttribute('aria-disabled'), 'true', `${name} is off`);
    assert.match(await button.getAttribute('title'), who, `${name} says who may`);
  }
}

const adaptiveNow = async (world) => {
  const { adaptive_polling_enabled: setting } = (await world.api('GET', 'api/settings/monitoring')).settings;
  return typeof setting === 'object' ? setting.value : setting;
};

export default [
  {
    name: 'adaptive polling is switched on and off, live',
    run: async (visit, world) => {
      const page = await visit.as(kAdmin, '#/settings');
      await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
      assert.ok(await setAdaptive(page, true), 'it was off at first');
      await until('it to be on', () => adaptiveNow(world));
      await visit.go('#/scheduler?tab=policies', 'Scheduler');
      await page.getByText('What each policy would do now').waitFor();
      await visit.go('#/settings', 'Settings');
      assert.ok(await setAdaptive(page, false));
      await until('it to be off', async () => !(await adaptiveNow(world)));
    },
  },
  {
    name: 'settings go back to an earlier version',
    run: async (visit, world) => {
      const page = await visit.as(kAdmin, '#/settings');
      await setAdaptive(page, true);
      await visit.go('#/settings?tab=versions');
      const inForce = page.getByRole('listitem').filter({ hasText: 'in force' });
      const good = (await inForce.locator('strong').first().textContent()).trim();
      await visit.go('#/settings', 'Settings');
      await setAdaptive(page, false);
      await until('it to be off', async () => !(await adaptiveNow(world))); // what the page said last may be of the time before
      await visit.go('#/settings?tab=versions');
      const compared = page.getByRole('region', { name: 'Compare two versions' });
      const changed = compared.getByRole('row', { name: /adaptive_polling_enabled/ });
      await changed.waitFor();
      await until('the newest two to be compared unasked', async () => (await changed.getByRole('cell').allTextContents()).join() === 'on,off');
      await compared.getByLabel('To').selectOption({ label: good });
      await compared.getByText('No value differs.').waitFor();
      const before = page.getByRole('listitem').filter({ has: page.getByText(good, { exact: true }) });
      await before.getByRole('button', { name: 'Go back to it' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel(/Reason/).fill('as it was');
      await dialog.getByRole('button').last().click();
      await page.getByText(`The settings are as in ${good.toLowerCase()} again`).waitFor();
      await until('it to be in force', async () => (await inForce.locator('strong').first().textContent()).trim() !== good);
      assert.ok(await adaptiveNow(world), `${good} had adaptive polling on`);
    },
  },
  {
    name: 'an edit of the settings shows what it would do, for a share of the fleet, before it is stored',
    run: async (visit, world) => {
      const page = await visit.as(kAdmin, '#/settings');
      await page.getByLabel('Adaptive polling', { exact: true }).check();
      await page.getByLabel('Who it is for', { exact: true }).selectOption('percent');
      const preview = page.getByRole('region', { name: 'Preview' });
      const answer = page.waitForResponse((response) => response.url().endsWith('/preview') && response.request().postDataJSON().adaptive_polling_scope === 'percent:40');
      await page.getByLabel('Share (%)', { exact: true }).fill('40');
      const { count } = await world.api('GET', 'api/fleet');
      await page.getByText(new RegExp(`^About ${Math.round(count * 0.4)} of ${count} targets`)).waitFor();
      const { now, then, targets_changed: many } = await (await answer).json();
      await preview.getByText(many === 0 ? 'No target gets another interval.' : new RegExp(`^${many} targets? would get another interval`)).waitFor();
      const polls = await preview.getByRole('row', { name: /^Polls per second/ }).getByRole('cell').allTextContents();
      assert.equal(polls.length, 2, 'now and then');
      [now, then].forEach((one, place) => assert.ok(Math.abs(Number.parseFloat(polls[place]) - one.polls_per_second) < 0.06, `${polls[place]} is ${one.polls_per_second}`));
      await page.getByRole('button', { name: 'Discard' }).click();
      assert.equal(await page.getByLabel('Who it is for', { exact: true }).inputValue(), 'all', 'nothing was stored');
    },
  },
  {
    name: 'a breaker is reset, and its probe comes before its time',
    run: async (visit, world) => {
      // Failing targets are asked at the pace of their interval at most: a fixed one is long enough.
      await setAdaptive(await visit.as(kAdmin, '#/settings'), false);
      await until('it to be off', async () => !(await adaptiveNow(world)));
      // It answers 503 until it is mended, and is asked so rarely that it does not mend by itself meanwhile.
      let away = true;
      const port = await world.startDevice(() => (away ? { status: 503, body: 'away' } : { body: '{"value": 1}' }));
      const key = 'http-json::moody';
      await world.add({ addon: 'http-json', device: 'moody', device_spec: { address: '127.0.0.1' }, spec: { port, interval: '60s' } });
      const breaker = async () => (await world.api('GET', 'api/monitoring/breakers?q=moody')).items.find((one) => one.key === key);
      const late = await until('a probe that is far away', async () => {
        const found = await breaker();
        if (found !== undefined && Date.parse(found.retryAt) > Date.now() + 25_000) return Date.parse(found.retryAt);
        await world.api('POST', `api/targets/${encodeURIComponent(key)}/poll`);
        return null;
      });
      const page = await visit.as(kAdmin, '#/scheduler?tab=failures');
      const reset = page.getByRole('button', { name: `Reset the breaker of ${key}` });
      await reset.waitFor();
      away = false;
      await reset.click();
      await page.getByRole('dialog').getByLabel(/Reason/).fill('the link is back');
      await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click();
      await page.getByText('1 probe due now.').waitFor();
      await until('the breaker to close', async () => (await breaker()) === undefined);
      assert.ok(Date.now() < late, 'it closed because of the reset, not because its time had come');
      await reset.waitFor({ state: 'detached' });
      const { items } = await world.api('GET', 'api/audit?action=breaker.reset&limit=1');
      assert.equal(items[0]?.object, key);
      assert.equal(items[0].reason, 'the link is back');
      assert.equal(items[0].result, 'allowed');
      assert.match(items[0].principal, /admin/);
    },
  },
  {
    name: 'a dead letter is retried',
    minutes: 5,
    run: async (visit, world) => {
      await makeDeadLetter(world);
      const page = await visit.as(kAdmin, '#/scheduler?tab=failures');
      const retry = page.getByRole('button', { name: 'Retry http-json::locked' }).first();
      await retry.click();
      await page.getByRole('dialog').getByLabel(/Reason/).fill('is the password right again?');
      await page.getByRole('dialog').getByRole('button', { name: 'Retry', exact: true }).click();
      await page.getByText(/1 retry due now/).waitFor();
      await until('the act in the audit trail', async () => JSON.stringify(await world.api('GET', 'api/audit?limit=20')).includes('is the password right again?'));
    },
  },
  {
    name: 'a viewer sees, and cannot do what others can',
    minutes: 5,
    expects: [/status of 403/],
    run: async (visit, world) => {
      await makeDeadLetter(world);
      const incident = await incidentOfDeadLetter(world);
      const viewer = { name: 'vera', password: 'a quiet onlooker' };
      await world.ensureUser(viewer, 'viewer');
      const page = await visit.as(viewer, '#/fleet?filter=addon%3Asnmp-system');
      await page.locator('.table-row').first().waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('x');
      await offFor(page, ['Poll now', 'Silence', 'Enable', 'Disable'], kOperators);
      await visit.go(`#/incidents/${incident.id}`);
      await offFor(page, ['Acknowledge', 'Silence', 'Add the note'], kOperators);
      await visit.go('#/scheduler?tab=failures', 'Scheduler');
      await offFor(page, ['Retry http-json::locked', 'Remove the dead letter http-json::locked', 'Reset the breaker of http-json::locked'], kAdmins);
      await visit.go('#/jobs', 'Jobs');
      await offFor(page, ['Submit jobs'], kOperators);
      await visit.go('#/addons', 'Addons');
      await offFor(page, ['New addon'], kAdmins);
      await visit.go('#/addons/http-json', 'http-json');
      assert.equal(await page.getByRole('tab', { name: 'Manifest' }).count(), 0);
      await visit.go('#/settings', 'Settings');
      assert.ok(await page.getByLabel('Adaptive polling', { exact: true }).isDisabled());
      await world.set({ status_page_title: 'A version to go back to' });
      await visit.go('#/settings?tab=versions');
      await offFor(page, ['Go back to it'], kAdmins);
      await visit.go('#/settings?tab=users');
      await page.getByText('Users are for admins').waitFor();
      // Also for who does not ask the page.
      const locked = encodeURIComponent('http-json::locked');
      const acts = [
        ['POST', `api/targets/${locked}/poll`], ['POST', `api/targets/${locked}/disable`], ['POST', `api/incidents/${incident.id}/acknowledge`],
        ['POST', `api/monitoring/breakers/${locked}/reset`], ['POST', `api/monitoring/dlq/${locked}/retry`], ['DELETE', `api/monitoring/dlq/${locked}`],
        ['POST', 'api/settings/rollback', { version: 0, reason: 'no' }], ['POST', 'api/users', { name: 'more', grants: [{ role: 'admin' }] }],
        ['POST', 'api/jobs', { type: 'maintenance' }],
      ];
      assert.deepEqual(await refusals(page, world, acts), all(acts, 403));
    },
  },
  {
    name: 'an operator polls and acknowledges, and leaves breakers to admins',
    minutes: 5,
    run: async (visit, world) => {
      await makeDeadLetter(world);
      const incident = await incidentOfDeadLetter(world);
      const operator = { name: 'otto', password: 'hands on the levers' };
      await world.ensureUser(operator, 'operator');
      const page = await visit.as(operator, '#/fleet?filter=addon%3Asnmp-system');
      await page.locator('.table-row').first().waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('x');
      await page.keyboard.press('p');
      await page.getByText('1 target polled now').waitFor();
      await visit.go(`#/incidents/${incident.id}`);
      await page.getByRole('button', { name: 'Acknowledge', exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
      await page.getByText('The incident is acknowledged').waitFor();
      await page.locator('.incident-head').getByText('otto').waitFor();
      await page.getByRole('button', { name: 'Take back' }).click();
      await page.getByRole('button', { name: 'Acknowledge', exact: true }).waitFor();
      await visit.go('#/scheduler?tab=failures', 'Scheduler');
      await offFor(page, ['Reset the breaker of http-json::locked', 'Retry http-json::locked', 'Remove the dead letter http-json::locked'], kAdmins);
      const locked = encodeURIComponent('http-json::locked');
      const acts = [['POST', `api/monitoring/breakers/${locked}/reset`], ['POST', 'api/monitoring/breakers/reset'], ['POST', `api/monitoring/dlq/${locked}/retry`], ['DELETE', `api/targets/${locked}`]];
      assert.deepEqual(await refusals(page, world, acts), all(acts, 403));
    },
  },
];
