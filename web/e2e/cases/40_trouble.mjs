// What must not go wrong when things go wrong: kills, hostile texts, proxies.
import assert from 'node:assert/strict';
import { addHostile, kHostile, kHostileGroup, kHostileText, unharmed } from '../hostile.mjs';
import { judgeScreen } from '../judge.mjs';
import { kAdmin, until } from '../world.mjs';

/** "12 s", "3 min" or "2 h" as seconds, and how far it may be off. */
function seconds(text) {
  const [, number, unit] = /^([\d.]+) (s|min|h)$/.exec(text) ?? [];
  const scale = { s: 1, min: 60, h: 3600 }[unit];
  assert.ok(scale, `${text} is an age`);
  return { age: Number(number) * scale, slack: scale / 2 + 2 };
}

/** The rows of the fleet as they are shown, and what the server says of the same targets a moment later. */
function shownAndTrue(page) {
  return page.evaluate(async () => {
    const at = Date.now();
    const shown = [...document.querySelectorAll('.table-row')].map((row) => ({
      key: row.querySelector('a[title]').title, state: row.querySelector('.state-mark').textContent.trim(), age: row.querySelector('.age-ring .word').textContent,
    }));
    const { columns } = await (await fetch('api/fleet')).json();
    return shown.map((one) => {
      const row = columns.key.indexOf(one.key);
      return { ...one, trueAge: (at - columns.last_success_ms[row]) / 1000, bound: columns.bound[row] };
    });
  });
}

export default [
  {
    name: 'names and values from devices neither run nor break the page',
    minutes: 4,
    run: async (visit, world) => {
      const { job, batch, incidents } = await addHostile(world);
      const page = await visit.as(kAdmin, '#/fleet?filter=addon%3Ahttp-json');
      await page.getByText('<script>alert(1)</script>').first().waitFor();
      await unharmed(page, 'the fleet');
      for (const name of kHostile) {
        const plain = name.replaceAll(/[\u202E\u202C]/g, '').slice(0, 5);
        await visit.go(`#/targets/${encodeURIComponent(`http-json::${name}`)}`);
        await page.getByRole('heading', { level: 1 }).filter({ hasText: plain }).waitFor();
        await unharmed(page, `the target ${name}`);
        await visit.go(`#/devices/${encodeURIComponent(name)}`);
        await page.getByRole('heading', { level: 1 }).filter({ hasText: plain }).waitFor();
        await unharmed(page, `the device ${name}`);
      }
      // Of each kind one: a name that would run, one that is long, and words of another system.
      for (const incident of [incidents[1], incidents[5], incidents[6]]) {
        const title = page.getByRole('heading', { level: 1 }).filter({ hasText: incident.title.slice(0, 30) });
        await visit.go(`#/incidents/${incident.id}`);
        await title.waitFor();
        await page.getByRole('region', { name: 'Evidence' }).getByText('Type', { exact: true }).waitFor();
        await unharmed(page, `the incident ${incident.title}`);
        await page.getByRole('link', { name: 'This alert alone' }).click();
        await page.getByRole('link', { name: 'Alerts', exact: true }).waitFor();
        await title.waitFor();
        await unharmed(page, `the alert ${incident.title}`);
      }
      await visit.go(`#/jobs/${job}`, '<script>alert(7)</script>');
      await unharmed(page, 'the job');
      await visit.go(`#/jobs/batches/${batch}`, '1 job on 1 level');
      await page.getByRole('link', { name: /<script>alert\(7\)/ }).waitFor();
      await unharmed(page, 'the batch');
      for (const [hash, text] of [['#/', 'Needs attention'], ['#/incidents', kHostileText], ['#/jobs', '<script>alert(7)'], ['#/scheduler?tab=plan', 'The plan'], ['#/addons/http-json?tab=targets', '<script>alert(1)']]) {
        await visit.go(hash);
        await page.locator('main').getByText(text).first().waitFor();
        await unharmed(page, hash);
      }
      await page.keyboard.press('/');
      await page.keyboard.type('<script');
      await page.getByRole('option', { name: /<script>alert/ }).first().waitFor();
      await page.setViewportSize({ width: 390, height: 844 });
      await visit.go('#/fleet?filter=addon%3Ahttp-json');
      await page.getByRole('grid', { name: 'Targets' }).waitFor();
      await unharmed(page, 'the fleet on a phone');
    },
  },
  {
    name: 'the server is killed and starts again: nothing old looks fresh, and the page goes on by itself',
    minutes: 5,
    expects: [/ERR_|WebSocket|Failed to load resource/],
    run: async (visit, world) => {
      const broken = 'snmp-system::sw-00003';
      await world.ensureAdmin();
      await world.set({ staleness_bound: '20s' });
      await until('the bound', async () => (await world.row(broken)).bound === 20);
      const page = await visit.as(kAdmin, '#/fleet?filter=addon%3Asnmp-system');
      await page.getByText('Live', { exact: true }).waitFor();
      await until('a row of each', async () => (await shownAndTrue(page)).some((one) => one.key === broken && one.state === 'up'));
      await world.killServer();
      await world.break('sw-00003', 'down');
      await page.getByText('No connection to the server.').waitFor();
      assert.equal(await page.evaluate(() => document.documentElement.dataset.connection), 'stale');
      assert.deepEqual(await judgeScreen(visit), [], 'with the banner above it');
      // Ages go on growing, and past their bound targets are not called up any more.
      await until('everything to be called stale', async () => {
        const words = await page.locator('.table-row .state-mark').allTextContents();
        return words.length > 0 && words.every((word) => word.trim() !== 'up');
      }, 180_000);
      await world.startServer();
      world.session = undefined;
      await page.getByText('Live', { exact: true }).waitFor({ timeout: 120_000 });
      assert.equal(await page.getByText('No connection to the server.').count(), 0);
      // What died meanwhile was up when it was asked last: nothing may say that it still is.
      await until('every target to be known again', async () => {
        const rows = await shownAndTrue(page);
        for (const { key, state, age, trueAge, bound } of rows.filter((one) => one.state === 'up' || one.state === 'degraded')) {
          assert.notEqual(key, broken, 'a device that is down is not shown as up');
          const shown = seconds(age);
          assert.ok(trueAge <= bound + 4, `${key} is shown as ${state}, ${trueAge} s after its last answer; that is old after ${bound} s`);
          assert.ok(trueAge <= shown.age + shown.slack, `${key} is shown as ${age} old and is ${trueAge} s`);
        }
        return rows.length > 1 && rows.every((one) => (one.key === broken ? one.state === 'down' : one.state !== 'stale' && one.state !== 'unknown'));
      }).finally(() => world.mend('sw-00003'));
      await world.set({ staleness_bound: null });
    },
  },
  {
    name: 'it works below a path of a proxy',
    expects: [/status of 401/],
    run: async (visit, world) => {
      await world.ensureAdmin();
      const base = await world.startNginx('/tools/pollux/');
      visit.welcome(base);
      const page = await visit.stranger();
      const outside = [];
      page.on('request', (request) => {
        const url = request.url();
        if (!/^(data|blob):/.test(url) && !url.startsWith(base) && !url.startsWith(base.replace(/^http/, 'ws'))) outside.push(url);
      });
      await page.goto(base);
      await page.getByRole('heading', { name: 'Log in to Pollux' }).waitFor();
      await page.getByLabel('Name').fill(kAdmin.name);
      await page.getByLabel('Password').fill(kAdmin.password);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByText('Live', { exact: true }).waitFor();
      for (const [link, heading] of [['Fleet', 'Fleet'], ['Jobs', 'Jobs'], ['Addons', 'Addons']]) {
        await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: link }).click();
        await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      }
      await page.reload();
      await page.getByRole('heading', { name: 'Addons', level: 1 }).waitFor();
      assert.deepEqual(outside, []);
    },
  },
  {
    name: 'the status page is public while it is switched on, and only then',
    expects: [/status of 404/],
    run: async (visit, world) => {
      const { incidents } = await addHostile(world);
      const page = await visit.stranger();
      await page.goto(`${world.url}/status`);
      await page.getByRole('heading', { name: 'There is no status page here' }).waitFor();
      await world.api('POST', `api/incidents/${incidents[1].id}/notes`, { note: kHostileText, public: true });
      await world.set({ status_page: true, status_page_title: 'Our <b>net</b>' });
      await page.reload();
      await page.getByRole('heading', { name: 'Our <b>net</b>', level: 1 }).waitFor();
      await page.getByRole('heading', { name: kHostileGroup, level: 2 }).waitFor();
      await page.getByRole('listitem').filter({ hasText: kHostileGroup }).getByText(kHostileText).waitFor();
      await unharmed(page, 'the status page');
      const bars = page.getByRole('toolbar').first();
      await bars.getByRole('button').last().focus();
      await page.keyboard.press('ArrowLeft');
      assert.match(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), /: (no data|up all the time|.*% up)/);
      assert.equal(await page.getByText(/sw-0000|127\.16/).count(), 0, 'no device is named');
      await page.getByText('Badges for your own pages').click();
      for (const group of ['all', kHostileGroup]) {
        await page.getByLabel('Badge of').selectOption(group);
        const badge = page.getByRole('img', { name: `Badge of ${group}` });
        await until('the badge', () => badge.evaluate((image) => image.complete && image.naturalWidth > 0));
      }
      await unharmed(page, 'the badges');
    },
  },
];
