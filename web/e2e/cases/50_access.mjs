// Every screen, and everything that opens over one, looked at once and in all ways (judge.mjs): for people who do not
// see it, do not use a mouse, get dizzy, or hold it in one hand, in a world in which every text is hostile.
import assert from 'node:assert/strict';
import { furnish, kHostile, kLostKey } from '../hostile.mjs';
import { judgeInside, judgeScreen } from '../judge.mjs';
import { overlays } from '../overlays.mjs';
import { kScreens, madeScreens, makeBatch, settle } from '../screens.mjs';
import { kAdmin } from '../world.mjs';

const target = (key, tab = '') => `#/targets/${encodeURIComponent(key)}${tab}`;
const kTroubled = [
  ...['', '?tab=why', '?tab=runs', '?tab=alerts', '?tab=settings'].map((tab) => target(`http-json::${kHostile[2]}`, tab)),
  ...['', '?tab=why', '?tab=runs'].map((tab) => target(kLostKey, tab)),
  ...['', '?tab=alerts', '?tab=settings'].map((tab) => `#/devices/${encodeURIComponent(kHostile[5])}${tab}`),
  '#/addons/http-json?tab=targets',
];

/** How long something takes to move into its place, in ms: the longest of all elements that are shown. */
const slowest = (page) =>
  page.evaluate(() => {
    const all = (text) => text.split(', ').map((one) => Number.parseFloat(one) * (one.endsWith('ms') ? 1 : 1000));
    const times = [...document.querySelectorAll('*')].flatMap((one) => {
      const style = getComputedStyle(one);
      return [...all(style.transitionDuration), ...(style.animationName === 'none' ? [] : all(style.animationDuration))];
    });
    return Math.max(...times);
  });

export default [
  {
    name: 'every screen is accessible, readable in the dark and on a phone, and unharmed by hostile texts',
    minutes: 12,
    expects: [/status of 40[14]/],
    run: async (visit, world) => {
      const made = await furnish(world);
      const stranger = await visit.stranger();
      await stranger.goto(world.url);
      await stranger.getByRole('heading', { name: 'Log in to Pollux' }).waitFor();
      const found = (await judgeScreen(visit)).map((line) => `login: ${line}`);

      await visit.as(kAdmin, '#/');
      const { batch } = await makeBatch(world);
      const screens = [...kScreens, ...madeScreens(made)].map((one) => one.hash);
      for (const hash of [...kTroubled, `#/jobs/batches/${batch}`, `#/incidents/${made.strange}`, ...screens]) {
        await visit.go(hash);
        for (const line of await judgeScreen(visit)) found.push(`${hash}: ${line}`);
      }
      assert.deepEqual(found, []);
    },
  },
  {
    name: 'every dialog and menu is accessible, readable in the dark, and unharmed by hostile texts',
    minutes: 8,
    run: async (visit, world) => {
      const made = await furnish(world);
      const page = await visit.as(kAdmin, '#/');
      const found = [];
      let at = '';
      for (const { name, hash, inside = 'dialog[open]', open } of overlays(made)) {
        if (hash !== at) await visit.go(hash);
        at = hash;
        await page.evaluate(() => document.activeElement.blur());
        await settle(visit);
        try {
          await open(page);
          await page.locator(inside).first().waitFor();
          for (const line of await judgeInside(visit, inside)) found.push(`${name}: ${line}`);
          await page.keyboard.press('Escape');
          await page.locator('dialog[open], .menu-list').first().waitFor({ state: 'detached' });
        } catch (error) {
          throw new Error(`${name}: ${error.message}`, { cause: error });
        }
      }
      assert.deepEqual(found, []);
    },
  },
  {
    name: 'who asks for reduced motion gets none',
    run: async (visit) => {
      const look = async (reducedMotion) => {
        const page = await visit.as(kAdmin, '#/fleet', { reducedMotion });
        await page.locator('.table-row').first().waitFor();
        await page.getByText('Live', { exact: true }).waitFor();
        return slowest(page);
      };
      assert.ok((await look('no-preference')) > 50, 'else something moves');
      assert.ok((await look('reduce')) <= 1);
    },
  },
  {
    name: 'times are local, and UTC on hover',
    run: async (visit) => {
      const page = await visit.as(kAdmin, '#/settings?tab=audit', { timezoneId: 'Asia/Kolkata' });
      const time = page.getByRole('grid', { name: 'Audit trail' }).locator('time').first();
      await time.waitFor();
      const [at, title, shown] = await time.evaluate((one) => [one.dateTime, one.title, one.textContent.trim()]);
      const utc = new Date(at).toISOString().slice(0, 19).replace('T', ' ');
      const local = new Date(Date.parse(at) + 5.5 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
      assert.equal(title, `${local} local, ${utc} UTC`);
      assert.ok(local.endsWith(shown), `${shown} is the local time ${local}`);
    },
  },
];
