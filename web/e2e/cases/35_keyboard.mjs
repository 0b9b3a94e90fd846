// Charts, strips and dialogs for those who use no mouse, a mouse, or a finger.
import assert from 'node:assert/strict';
import { kAdmin, until } from '../world.mjs';

/** Goes on by the Tab key until the focus is on such an element; gives it. */
async function tabTo(page, selector, most = 120) {
  for (let at = 0; at < most; at += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) === true, selector)) return page.locator('*:focus');
  }
  throw new Error(`${selector} was not reached in ${most} steps`);
}

const plots = (page) => page.locator('.chart-plot[tabindex="0"]');
const labels = (page) => plots(page).evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
/** The time that each chart reads out. */
const read = (page) => page.locator('.chart').filter({ has: plots(page) }).locator('.chart-legend span.when').allTextContents();
/** "…, from A to B. Arrow keys …" -> "from A to B"; what a chart really shows, told by its own scale. */
const rangeOf = (label) => /, (from .* to .*?)\. Arrow keys/.exec(label)?.[1] ?? null;

async function openCurves(visit) {
  const page = await visit.as(kAdmin, '#/scheduler');
  await page.getByRole('heading', { name: 'Over time' }).waitFor();
  await until('some samples in each chart', async () => (await plots(page).count()) >= 3);
  return page;
}

export default [
  {
    name: 'charts, tabs, the list of keys and a dialog by keyboard alone',
    run: async (visit) => {
      const page = await openCurves(visit);
      const plot = await tabTo(page, '.chart-plot');
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowLeft');
      const said = plot.locator('xpath=following-sibling::*[@aria-live]');
      assert.match(await said.textContent(), /^[\d :()-]+UTC\)?: started [\d.]+ ?\S*\/s, finished /);
      await until('the other charts to read the same instant', async () => {
        const times = await read(page);
        return times.length >= 3 && times[0] !== '' && times.every((one) => one === times[0]);
      });
      // A server that just started has too few samples to zoom into.
      await until('all charts to be zoomed', async () => {
        await page.keyboard.press('+');
        await page.waitForTimeout(250);
        return (await labels(page)).every((one) => rangeOf(one) !== null);
      });
      assert.match(await said.textContent(), /^Shown: .* to /);
      await page.keyboard.press('Escape');
      await until('all charts to show all again', async () => (await labels(page)).every((one) => rangeOf(one) === null));
      assert.deepEqual(new Set(await read(page)), new Set(['']));

      await page.keyboard.press('?');
      const help = page.getByRole('dialog', { name: 'Keys' });
      await help.getByRole('heading', { name: 'In a chart' }).waitFor();
      await page.keyboard.press('Escape');
      await help.waitFor({ state: 'detached' });
      assert.ok(await plot.evaluate((element) => element === document.activeElement), 'the focus is where it was');

      await page.goto(`${visit.world.url}/#/targets/snmp-system%3A%3Asw-00001`);
      await page.getByRole('heading', { name: 'snmp-system::sw-00001', level: 1 }).waitFor();
      await page.locator('body').press('s');
      const silence = page.getByRole('dialog', { name: /^Silence snmp-system::sw-00001/ });
      await silence.waitFor();
      await page.keyboard.press('Enter');
      await silence.getByText('A reason is needed.').waitFor();
      await page.keyboard.press('Escape');
      await silence.waitFor({ state: 'detached' });
      await tabTo(page, '[role="tab"][aria-selected="true"]');
      await page.keyboard.press('ArrowRight');
      await page.getByRole('tab', { name: 'Why now?', selected: true }).waitFor();
      await page.keyboard.press('ArrowLeft');
      const strip = await tabTo(page, '.strip-bar');
      await page.keyboard.press('ArrowLeft');
      assert.match(await strip.locator('xpath=following-sibling::*[@aria-live]').textContent(), /^(up|unknown|degraded|down|disabled) for .* to /);
    },
  },
  {
    name: 'dragging over a chart zooms it, and the others follow',
    run: async (visit) => {
      const page = await openCurves(visit);
      const box = await plots(page).first().locator('.u-over').boundingBox();
      const middle = box.y + box.height / 2;
      await page.mouse.move(box.x + box.width * 0.3, middle);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.7, middle, { steps: 8 });
      await page.mouse.up();
      await until('all charts to show the same part', async () => {
        const ranges = (await labels(page)).map(rangeOf);
        return ranges.length >= 3 && ranges[0] !== null && ranges.every((one) => one === ranges[0]);
      });
      await page.mouse.dblclick(box.x + box.width / 2, middle);
      await until('all charts to show all again', async () => (await labels(page)).every((one) => rangeOf(one) === null));
    },
  },
  {
    name: 'on a phone rows are selected and put in order',
    run: async (visit) => {
      const page = await visit.as(kAdmin, '#/fleet', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
      const cards = page.locator('.table-row.card');
      await cards.first().waitFor();
      await cards.first().locator('.pick label').tap();
      await page.getByText('1 target selected').waitFor();
      assert.match(page.url(), /#\/fleet/, 'the card was not opened');
      const first = () => cards.evaluateAll((all) => all.find((one) => one.style.transform === 'translateY(0px)')?.querySelector('strong')?.textContent);
      const before = await first();
      await page.getByRole('button', { name: 'Rising; turn around' }).tap();
      await until('the last one to stand first', async () => (await first()) !== before);
      await page.getByLabel('Order by').selectOption('State');
      await page.getByLabel('Select all shown').check();
      await page.getByText(/^\d\d+ targets selected/).waitFor();
    },
  },
];
