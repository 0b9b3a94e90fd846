// Every screen for people who do not see it, do not use a mouse, or hold it in one hand: nothing serious or
// critical by axe in the light, no contrast too low in the dark, and no screen wider than a phone.
import assert from 'node:assert/strict';
import { violations } from '../axe.mjs';
import { kScreens, makeBatch, settle } from '../screens.mjs';
import { kAdmin } from '../world.mjs';

const kDesk = { width: 1360, height: 860 };
const kPhone = { width: 390, height: 844 };
// In the dark only colours differ.
const kContrast = { runOnly: { type: 'rule', values: ['color-contrast'] } };
const serious = (lines) => lines.filter((line) => /\((serious|critical)\)/.test(line));

async function lookAtAll(visit, world, look, judge) {
  const made = await makeBatch(world);
  const page = await visit.as(kAdmin, '#/', look);
  const found = [];
  for (const { hash } of [...kScreens, { hash: `#/jobs/batches/${made}` }]) {
    await visit.go(hash);
    await settle(page);
    for (const line of await judge(page)) found.push(`${hash} ${line}`);
  }
  assert.deepEqual(found, []);
}

async function tooWide(page) {
  const narrow = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && document.querySelector('main').scrollWidth <= innerWidth);
  await page.setViewportSize(kPhone);
  if (!(await narrow())) await page.waitForTimeout(500); // what is drawn by script follows a frame later
  const fits = await narrow();
  await page.setViewportSize(kDesk);
  return fits ? [] : ['is wider than a phone'];
}

export default [
  {
    name: 'every screen is accessible, and none is wider than a phone',
    minutes: 12,
    run: (visit, world) => lookAtAll(visit, world, {}, async (page) => [...serious(await violations(page)), ...(await tooWide(page))]),
  },
  {
    name: 'every screen can be read in the dark',
    minutes: 10,
    run: (visit, world) => lookAtAll(visit, world, { colorScheme: 'dark' }, async (page) => serious(await violations(page, kContrast))),
  },
];
