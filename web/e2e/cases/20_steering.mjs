// What people steer: adaptive polling, breakers, dead letters, versions of settings, and who may.
import assert from 'node:assert/strict';
import { kAdmin, until } from '../world.mjs';

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

/** Polled by hand until it is a dead letter with an open breaker: by itself it would be asked again after half a minute, then minutes. */
async function untilDead(world, key) {
  await until(`the dead letter ${key}`, async () => {
    const row = await world.row(key);
    if (row.dead_letter && row.breaker !== 'closed') return true;
    await world.api('POST', `api/targets/${encodeURIComponent(key)}/poll`);
    return false;
  });
}

/** Wants a password and has none. */
async function makeDeadLetter(world) {
  await world.add({ addon: 'http-json', device: 'locked', device_spec: { address: '127.128.0.1' }, spec: { port: world.ports.http, params: { path: '/as/basic/status' } } });
  await untilDead(world, 'http-json::locked');
}

/** Three targets of a device that counts questions and answers like this until it is mended; asked rarely. */
async function addSick(world, name, answer) {
  const keys = ['a', 'b', 'c'].map((end) => `http-json::${name}-${end}`);
  const counts = Object.fromEntries(keys.map((key) => [key, 0]));
  let mended = false;
  const port = await world.startDevice((request) => {
    counts[`http-json::${request.url.slice(1)}`] += 1;
    return mended ? { body: '{"value": 1}' } : answer;
  });
  const of = (key) => key.split('::')[1];
  await world.add(...keys.map((key) => ({ addon: 'http-json', device: of(key), device_spec: { address: '127.0.0.1' }, spec: { port, interval: '60s', params: { path: `/${of(key)}` } } })));
  return {
    keys,
    asked: () => ({ ...counts }),
    /** Answers well from now on; gives how often each was asked until now. */
    mend: () => ((mended = true), { ...counts }),
    /** Those of them in a list of failures. */
    listed: async (path) => new Map((await world.api('GET', `${path}?q=${name}-`)).items.map((one) => [one.key, one])),
  };
}

/** Selects rows of a table by their check boxes. */
async function choose(page, table, keys) {
  for (const key of keys) await page.getByRole('grid', { name: table, exact: true }).getByRole('checkbox', { name: `Select ${key}`, exact: true }).check();
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

// Of the simulated switches, as the fleet file has it.
const kPace = 3;

/** Simulated switches that are not polled at their fixed pace now: [key, interval]. */
async function others(world) {
  const { columns } = await world.api('GET', 'api/fleet');
  return columns.key.map((key, at) => [key, columns.interval[at]]).filter(([key, interval], at) => key.startsWith('snmp-system::sw-') && columns.state[at] === 'up' && interval !== kPace);
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
      const { started_at: started } = await world.api('GET', 'api/version');
      const { pid } = world.server.child;
      await until('a fixed interval everywhere', async () => (await others(world)).length === 0);
      assert.ok(await setAdaptive(page, true), 'it was off at first');
      await until('it to be on', () => adaptiveNow(world));
      const { in_force: policy } = await until('its policy to be in force', async () => {
        const found = await world.api('GET', 'api/scheduler/policies');
        return found.adaptive && found;
      });
      assert.notEqual(policy, 'fixed');
      await visit.go('#/scheduler?tab=policies', 'Scheduler');
      await page.getByText('What each policy would do now').waitFor();
      const inForce = page.locator('.scheduler-compare').getByRole('columnheader').filter({ hasText: 'in force' });
      await until('the table to say so', async () => (await inForce.count()) === 1 && (await inForce.textContent()).startsWith(`${policy} `));
      // A poll that is over plans the next one by the policy: quiet targets are asked more rarely.
      const [key, interval] = await until('an interval that differs', async () => (await others(world))[0]);
      const story = await world.api('GET', `api/tasks/${encodeURIComponent(key)}/explain`);
      assert.equal(story.interval.policy, policy);
      await visit.go(`#/targets/${encodeURIComponent(key)}?tab=why`);
      await page.getByLabel('How the interval was decided').waitFor();
      assert.notEqual(interval, kPace);

      await visit.go('#/settings', 'Settings');
      assert.ok(await setAdaptive(page, false));
      await until('it to be off', async () => !(await adaptiveNow(world)));
      await until('every interval to be the fixed one again', async () => (await others(world)).length === 0);
      await visit.go('#/scheduler?tab=policies', 'Scheduler');
      await until('the table to say so', async () => (await inForce.count()) === 1 && (await inForce.textContent()).startsWith('fixed '));
      assert.equal((await world.api('GET', 'api/version')).started_at, started);
      assert.deepEqual([world.server.child.pid, world.server.child.exitCode, world.server.child.signalCode], [pid, null, null], 'nothing was restarted');
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
    name: 'adaptive polling for a share of the fleet is for these targets and no others',
    run: async (visit, world) => {
      const page = await visit.as(kAdmin, '#/settings');
      await page.getByLabel('Adaptive polling', { exact: true }).check();
      await page.getByLabel('Who it is for', { exact: true }).selectOption('percent');
      await page.getByLabel('Share (%)', { exact: true }).fill('40');
      await page.getByRole('button', { name: 'Save' }).first().click();
      await page.getByText(/Stored as version \d+ and in force/).first().waitFor();
      const { settings } = await world.api('GET', 'api/settings');
      assert.deepEqual([settings.adaptive_polling_enabled.value, settings.adaptive_polling_scope.value], [true, 'percent:40']);
      const { columns } = await world.api('GET', 'api/fleet');
      const keys = columns.key.filter((key) => /::(sw|web)-\d+$/.test(key));
      const policyOf = async (key) => (await world.api('GET', `api/tasks/${encodeURIComponent(key)}/explain`)).interval.policy;
      const many = async () => (await Promise.all(keys.map(policyOf))).filter((policy) => policy !== 'fixed').length;
      const some = await until('some to be adaptive', many);
      // Chosen by a hash of the name: of twenty, some and not all.
      assert.ok(some > 0 && some < keys.length, `${some} of ${keys.length} are adaptive`);
      await world.set({ adaptive_polling_scope: 'all' });
      await until('all to be', async () => (await many()) === keys.length);
      await world.set({ adaptive_polling_enabled: false });
      await until('none to be', async () => (await many()) === 0);
    },
  },
  {
    name: 'breakers are reset, one and then several, and their probes come before their time',
    run: async (visit, world) => {
      // Failing targets are asked at the pace of their interval at most: a fixed one is long enough.
      await setAdaptive(await visit.as(kAdmin, '#/settings'), false);
      await until('it to be off', async () => !(await adaptiveNow(world)));
      // They answer 503 until they are mended, and are asked so rarely that they do not mend by themselves meanwhile.
      const sick = await addSick(world, 'moody', { status: 503, body: 'away' });
      const late = await until('probes that are far away', async () => {
        const open = await sick.listed('api/monitoring/breakers');
        const soon = sick.keys.filter((key) => !(Date.parse(open.get(key)?.retryAt) > Date.now() + 25_000));
        for (const key of soon) await world.api('POST', `api/targets/${encodeURIComponent(key)}/poll`);
        return soon.length === 0 && Math.min(...[...open.values()].map((one) => Date.parse(one.retryAt)));
      });
      const page = await visit.as(kAdmin, '#/scheduler?tab=failures');
      const [first, ...rest] = sick.keys;
      const reset = page.getByRole('button', { name: `Reset the breaker of ${first}` });
      await reset.waitFor();
      const before = sick.mend();
      await reset.click();
      await page.getByRole('dialog').getByLabel(/Reason/).fill('the link is back');
      await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click();
      await page.getByText('1 probe due now.').waitFor();
      await until('the breaker to close', async () => !(await sick.listed('api/monitoring/breakers')).has(first));
      assert.ok(Date.now() < late, 'it closed because of the reset, not because its time had come');
      await reset.waitFor({ state: 'detached' });
      const { items } = await world.api('GET', 'api/audit?action=breaker.reset&limit=1');
      assert.equal(items[0]?.object, first);
      assert.equal(items[0].reason, 'the link is back');
      assert.equal(items[0].result, 'allowed');
      assert.match(items[0].principal, /admin/);
      assert.deepEqual(sick.asked(), { ...before, [first]: before[first] + 1 }, 'the others were left alone');

      await choose(page, 'Breakers', rest);
      await page.getByRole('button', { name: 'Reset 2 selected' }).click();
      await page.getByRole('dialog', { name: 'Reset 2 breakers?' }).getByRole('button', { name: 'Reset' }).click();
      await page.getByText('2 probes due now.').waitFor();
      await until('both to close', async () => (await sick.listed('api/monitoring/breakers')).size === 0);
      assert.ok(Date.now() < late, 'they closed because of the reset');
      for (const key of rest) assert.ok(sick.asked()[key] > before[key], `${key} was asked`);
    },
  },
  {
    name: 'dead letters are retried, one and then several: they are asked before their time, and are none any more',
    run: async (visit, world) => {
      const sick = await addSick(world, 'lost', { status: 401, body: 'who are you?' });
      for (const key of sick.keys) await untilDead(world, key);
      const letters = await sick.listed('api/monitoring/dlq');
      assert.deepEqual([...letters.keys()].sort(), sick.keys);
      const late = Math.min(...[...letters.values()].map((one) => Date.parse(one.nextRetry)));
      assert.ok(late > Date.now() + 60_000, 'by itself none is asked soon');
      const page = await visit.as(kAdmin, '#/scheduler?tab=failures');
      const [first, ...rest] = sick.keys;
      const retry = page.getByRole('button', { name: `Retry ${first}`, exact: true });
      await retry.waitFor();
      const before = sick.mend();
      await retry.click();
      await page.getByRole('dialog').getByLabel(/Reason/).fill('is the password right again?');
      await page.getByRole('dialog').getByRole('button', { name: 'Retry', exact: true }).click();
      await page.getByText(/1 retry due now/).waitFor();
      await until('the dead letter to be gone', async () => !(await sick.listed('api/monitoring/dlq')).has(first));
      assert.ok(Date.now() < late, 'because of the retry, not because its time had come');
      assert.deepEqual(sick.asked(), { ...before, [first]: before[first] + 1 }, 'it was asked once, and no other was');
      await retry.waitFor({ state: 'detached' });
      await until('it to be up', async () => (await world.row(first)).state === 'up');
      const { items } = await world.api('GET', 'api/audit?action=dlq.retry&limit=1');
      assert.deepEqual([items[0]?.object, items[0]?.reason, items[0]?.result], [first, 'is the password right again?', 'allowed']);

      await choose(page, 'Dead letters', rest);
      await page.getByRole('button', { name: 'Retry 2 selected' }).click();
      await page.getByRole('dialog', { name: 'Retry 2 dead letters?' }).getByRole('button', { name: 'Retry', exact: true }).click();
      await page.getByText(/2 retries due now/).waitFor();
      await until('both to be gone', async () => (await sick.listed('api/monitoring/dlq')).size === 0);
      assert.ok(Date.now() < late, 'because of the retry');
      for (const key of rest) assert.ok(sick.asked()[key] > before[key], `${key} was asked`);
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
