// Looks at what a page shows in all ways at once: by axe in the light, its contrast in the dark, whether a text lies on
// another or is cut, whether it fits a phone, and whether a text became more than text.
import { barriers } from './axe.mjs';
import { unharmed } from './hostile.mjs';
import { textTrouble } from './overlaps.mjs';
import { settle } from './screens.mjs';
import { until } from './world.mjs';

const kDesk = { width: 1360, height: 860 };
const kPhone = { width: 390, height: 844 };

const fits = () => document.documentElement.scrollWidth <= innerWidth && document.querySelector('main').scrollWidth <= innerWidth;

/** Everything that is wrong with the screen, as lines. */
export async function judgeScreen(visit) {
  const { page } = visit;
  await settle(visit);
  const found = await barriers(page, () => settle(visit));
  await unharmed(page, 'on a desk').catch((error) => found.push(error.message));
  found.push(...(await textTrouble(visit)));
  await page.setViewportSize(kPhone);
  await settle(visit);
  // What is drawn by script follows a frame later.
  await until('it to fit', () => page.evaluate(fits), 2000).catch(() => found.push('is wider than a phone'));
  await unharmed(page, 'on a phone').catch((error) => found.push(error.message));
  found.push(...(await textTrouble(visit)).map((line) => `on a phone: ${line}`));
  await page.setViewportSize(kDesk);
  return found;
}

/** Likewise of what opened over it: a dialog, a menu. */
export async function judgeInside(visit, inside) {
  const { page } = visit;
  await settle(visit);
  const found = await barriers(page, () => settle(visit), inside);
  await unharmed(page, 'on a desk').catch((error) => found.push(error.message));
  return found;
}
