// What opens over the screens: dialogs, menus, lists of suggestions; each with how it is opened in a furnished world.
import { kHostile, kLostKey, kReceiver } from './hostile.mjs';

const kTarget = `#/targets/${encodeURIComponent(`http-json::${kHostile[1]}`)}`;
const kDevice = `#/devices/${encodeURIComponent(kHostile[2])}`;
const kMenu = '.menu-list';

const press = (name) => (page) => page.getByRole('button', { name, exact: true }).first().click();
const key = (...keys) => async (page) => {
  for (const one of keys) await page.keyboard.press(one);
};
/** An entry of the menu behind a button. */
const entry = (button, name) => async (page) => {
  await press(button)(page);
  await page.getByRole('menuitem', { name }).click();
};
/** The first row of a table, opened by keyboard. */
const row = (table, ...further) => async (page) => {
  await page.locator(`.table-scroll[aria-label="${table}"]`).focus();
  await key('Home', ...further, 'Enter')(page);
};
const selected = (button) => async (page) => {
  await page.locator('.table-row').first().waitFor();
  await key('j', 'x')(page);
  await press(button)(page);
};

/** `inside` is what opened, if it is no dialog. */
export const overlays = ({ incident, alert, held }) => [
  { name: 'keys', hash: '#/fleet', open: key('?') },
  { name: 'search', hash: '#/fleet', inside: '.search', open: async (page) => (await key('/')(page), page.keyboard.type('<script')) },
  { name: 'account menu', hash: '#/fleet', inside: kMenu, open: (page) => page.getByRole('button', { name: /^Account of/ }).click() },
  { name: 'columns of the fleet', hash: '#/fleet', inside: kMenu, open: press('Choose columns') },
  { name: 'add a device', hash: '#/fleet', open: key('a') },
  { name: 'look for devices', hash: '#/fleet', open: entry('Add', 'Look for devices in a network') },
  { name: 'filter of the fleet', hash: '#/fleet', inside: '.fleet-tools', open: async (page) => (await key('f')(page), page.keyboard.type('group:')) },
  { name: 'disable targets', hash: '#/fleet?filter=addon%3Ahttp-json', open: selected('Disable') },
  { name: 'silence targets', hash: '#/fleet?filter=addon%3Ahttp-json', open: selected('Silence') },
  { name: 'more of a target', hash: kTarget, inside: kMenu, open: press('More') },
  { name: 'silence a target', hash: kTarget, open: key('s') },
  { name: 'edit a target', hash: kTarget, open: key('e') },
  { name: 'pause a target', hash: kTarget, open: press('Pause') },
  { name: 'delete a target', hash: kTarget, open: entry('More', 'Delete…') },
  { name: 'more of a device', hash: kDevice, inside: kMenu, open: press('More') },
  { name: 'edit a device', hash: kDevice, open: key('e') },
  { name: 'silence a device', hash: kDevice, open: key('s') },
  { name: 'delete a device', hash: kDevice, open: entry('More', 'Delete…') },
  { name: 'acknowledge an incident', hash: `#/incidents/${incident}`, open: key('a') },
  { name: 'silence an incident', hash: `#/incidents/${incident}`, open: key('s') },
  { name: 'resolve an incident', hash: `#/incidents/${incident}`, open: entry('More', 'Resolve…') },
  { name: 'acknowledge an alert', hash: `#/alerts/${alert}`, open: press('Acknowledge') },
  { name: 'forget an alert', hash: `#/alerts/${alert}`, open: entry('More', 'Forget it…') },
  { name: 'a dead letter', hash: '#/scheduler?tab=failures', open: row('Dead letters') },
  { name: 'a breaker', hash: '#/scheduler?tab=failures', open: row('Breakers') },
  { name: 'retry a dead letter', hash: '#/scheduler?tab=failures', open: press(`Retry ${kLostKey}`) },
  { name: 'remove a dead letter', hash: '#/scheduler?tab=failures', open: press(`Remove the dead letter ${kLostKey}`) },
  { name: 'acts on a job', hash: '#/jobs', inside: kMenu, open: press('Acts on <b>parent</b>') },
  { name: 'cancel a job', hash: `#/jobs/${held}`, open: press('Cancel…') },
  { name: 'acts on an addon', hash: '#/addons/http-json', inside: kMenu, open: press('Acts on http-json') },
  { name: 'disable an addon', hash: '#/addons/http-json', open: entry('Acts on http-json', 'Disable…') },
  { name: 'a setting', hash: '#/settings?tab=all&filter=status_page_title', open: row('Settings', 'j') },
  { name: 'back to a version', hash: '#/settings?tab=versions', open: (page) => page.getByRole('button', { name: 'Go back to it' }).last().click() },
  { name: 'add a receiver', hash: '#/settings?tab=notifications', open: press('Add a receiver') },
  { name: 'edit a receiver', hash: '#/settings?tab=notifications', open: entry(`Acts on ${kReceiver}`, 'Edit') },
  { name: 'remove a receiver', hash: '#/settings?tab=notifications', open: entry(`Acts on ${kReceiver}`, 'Remove') },
  { name: 'test of a receiver', hash: '#/settings?tab=notifications', open: async (page) => (await page.getByRole('article', { name: `Receiver ${kReceiver}` }).getByRole('button', { name: 'Test' }).click(), page.getByText('Not all channels took the message.').waitFor()) },
  { name: 'add a route', hash: '#/settings?tab=notifications', open: press('Add a route') },
  { name: 'a message', hash: '#/settings?tab=notifications', open: row('Log of deliveries') },
  { name: 'add a silence', hash: '#/settings?tab=silences', open: press('Add a silence') },
  { name: 'a silence', hash: '#/settings?tab=silences', open: row('Silences') },
  { name: 'add a credential', hash: '#/settings?tab=credentials', open: press('Add a credential') },
  { name: 'add a user', hash: '#/settings?tab=users', open: press('Add a user') },
  { name: 'edit a user', hash: '#/settings?tab=users', open: entry('Acts on mallory', 'Edit') },
  { name: 'sessions of a user', hash: '#/settings?tab=users', open: entry('Acts on mallory', 'Sessions') },
  { name: 'remove a user', hash: '#/settings?tab=users', open: entry('Acts on mallory', 'Remove') },
  { name: 'make a token', hash: '#/settings?tab=tokens', open: press('Make a token') },
  { name: 'revoke a token', hash: '#/settings?tab=tokens', open: press('Revoke look') },
  { name: 'a record of the trail', hash: '#/settings?tab=audit', open: row('Audit trail') },
];
