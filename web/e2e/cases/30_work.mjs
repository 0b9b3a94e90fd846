// Jobs and addons: what people bring themselves.
import assert from 'node:assert/strict';
import { kAdmin, until } from '../world.mjs';

const kGraph = `name: walk
jobs:
  - {name: first, type: poll, target: snmp-system::sw-00001}
  - {name: second, type: poll, target: snmp-system::sw-00002, depends_on: [first]}
  - name: third
    type: poll
    target: snmp-system::sw-00003
    depends_on: [[first, second]]
`;

export default [
  {
    name: 'a graph of jobs is checked, submitted and followed to its end',
    expects: [/status of 422/],
    run: async (visit) => {
      const page = await visit.as(kAdmin, '#/jobs/new?tab=graph');
      const editor = page.getByLabel('Jobs, as YAML or JSON');
      await editor.fill(kGraph.replace('type: poll, target: snmp-system::sw-00002', 'type: pol, target: snmp-system::sw-00002'));
      await page.getByRole('button', { name: 'Check only' }).click();
      const mistake = page.getByRole('button', { name: 'line 4' });
      await mistake.waitFor();
      await page.getByText(/did you mean/).first().waitFor();
      await mistake.click();
      assert.match(await page.evaluate(() => getSelection()?.toString() || document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)), /second/);
      await editor.fill('jobs: [\n');
      await page.getByRole('button', { name: 'line 1' }).waitFor();
      await editor.fill(kGraph);
      await page.getByRole('button', { name: 'Check only' }).click();
      await page.getByText('3 jobs are good; nothing was submitted').waitFor();
      await page.getByRole('button', { name: 'Submit', exact: true }).click();
      await page.getByRole('heading', { name: '3 jobs on 3 levels' }).waitFor();
      await page.getByText('3 of 3 ended').waitFor();
      // By keyboard along the lines, and into a job.
      const node = page.getByRole('link', { name: /^first completed.*on the critical path/ });
      await node.focus();
      await page.keyboard.press('ArrowRight');
      assert.match(await page.evaluate(() => document.activeElement.textContent), /^(second|third)completed/);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: /second|third/, level: 1 }).waitFor();
      await page.getByText('Attempt 1', { exact: true }).waitFor();
    },
  },
  {
    name: 'a job is held, released and cancelled, with what depends on it',
    run: async (visit, world) => {
      const made = await world.api('POST', 'api/jobs', { name: 'later', jobs: [{ name: 'parent', type: 'poll', target: 'snmp-system::sw-00001', hold: true }, { name: 'child', type: 'poll', target: 'snmp-system::sw-00001', depends_on: ['parent'] }] });
      const page = await visit.as(kAdmin, `#/jobs/${made.ids[1]}`);
      await page.getByText('Why it waits:').waitFor();
      await page.getByRole('link', { name: 'parent' }).first().click();
      await page.getByText('It is held and starts when somebody releases it.').waitFor();
      await page.getByRole('button', { name: 'Cancel…' }).click();
      await page.getByRole('dialog').getByText('1 job behind it is cancelled too.').waitFor();
      await page.getByRole('dialog').getByLabel('Reason (optional)').fill('not today');
      await page.getByRole('button', { name: 'Cancel 2 jobs' }).click();
      await page.getByText('2 jobs cancelled').waitFor();
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('parent is tried again').waitFor();
      await until('it to run', async () => ['completed', 'pending'].includes((await world.api('GET', `api/jobs/${made.ids[0]}`)).state));

      const held = await world.api('POST', 'api/jobs', { name: 'soon', jobs: [{ name: 'alone', type: 'poll', target: 'snmp-system::sw-00001', hold: true }] });
      await visit.go(`#/jobs/${held.ids[0]}`, 'alone');
      await page.getByText('It is held and starts when somebody releases it.').waitFor();
      await page.getByRole('button', { name: 'Release' }).click();
      await page.getByText('alone is released').waitFor();
      await page.getByRole('region', { name: 'Attempt 1' }).waitFor();
      assert.equal((await world.api('GET', `api/jobs/${held.ids[0]}`)).held, false);
    },
  },
  {
    name: 'a sweep finds devices and its proposal is accepted as a difference',
    minutes: 4,
    run: async (visit, world) => {
      const page = await visit.as(kAdmin, '#/jobs?tab=discovery');
      await page.getByRole('textbox', { name: 'Network' }).fill('127.16.0.8/30');
      await page.getByText(/2 addresses/).waitFor();
      for (const method of ['SSH banner', 'HTTP', 'HTTPS']) await page.getByRole('checkbox', { name: method, exact: true }).uncheck();
      await page.getByText('Ports, credentials and speed').click();
      await page.getByLabel('Port of SNMP').fill(String(world.ports.snmp));
      await page.getByRole('button', { name: 'Start the sweep' }).click();
      await page.getByText(/new device/).first().waitFor();
      await page.getByRole('button', { name: 'Choose none' }).click();
      await page.getByRole('region', { name: 'Proposed devices' }).getByRole('checkbox').first().check();
      const add = page.getByRole('button', { name: /^Add \d+ targets?$/ });
      const many = Number((await add.textContent()).match(/\d+/)[0]);
      assert.ok(many >= 1);
      await add.click();
      await page.getByText(`${many} target${many === 1 ? '' : 's'} added`).waitFor();
      await page.getByText('is there already').first().waitFor();
    },
  },
  {
    name: 'devices say what stands behind what, and their parents are accepted as a difference',
    minutes: 4,
    run: async (visit, world) => {
      const page = await visit.as(kAdmin, '#/jobs?tab=discovery');
      // One that the API owns, on an address of the fleet: the others come from a file.
      await world.api('POST', 'api/devices', { name: 'of-the-api', address: '127.128.0.1', port: world.ports.http, addons: ['http-status'] });
      await page.getByRole('textbox', { name: 'Root (optional)' }).fill('nobody');
      await page.getByRole('button', { name: 'Ask the devices' }).click();
      await page.getByText(/there is no device "nobody"/).first().waitFor();
      await visit.go('#/jobs?tab=discovery', 'Jobs');
      await page.getByRole('textbox', { name: 'Root (optional)' }).fill('sw-00001');
      await page.getByRole('button', { name: 'Ask the devices' }).click();
      await page.getByText(/devices? answered/).waitFor();
      await page.getByText('behind sw-00002').first().waitFor();
      await page.getByLabel('For the fleet file').getByText('web-00001').waitFor();
      // Devices that other cases added are proposed too.
      const proposed = page.getByRole('region', { name: 'Proposed parents' });
      await proposed.getByRole('button', { name: 'Choose none' }).click();
      await proposed.getByRole('checkbox', { name: /of-the-api/ }).check();
      await page.getByRole('button', { name: 'Accept parents of 1 device' }).click();
      await page.getByText('Parents of 1 device accepted').waitFor();
      await visit.go('#/devices/of-the-api', 'of-the-api');
      await page.getByRole('link', { name: 'discovered', exact: true }).waitFor();
      await world.api('DELETE', 'api/devices/of-the-api');
    },
  },
  {
    name: 'an addon is written, tried, stored, disabled and removed',
    expects: [/status of 422/],
    run: async (visit, world) => {
      // It says again what it is asked with, as careless devices do.
      const port = await world.startDevice((request) => ({ body: JSON.stringify({ open: 1, path: request.url }) }));
      await world.add({ addon: 'http-json', device: 'door-1', device_spec: { address: '127.0.0.1' }, spec: { port, interval: '1h' } });
      const page = await visit.as(kAdmin, '#/addons/new');
      const editor = page.getByLabel('Manifest, as YAML or JSON');
      const good = (await editor.inputValue()).replace('name: my-door', 'name: e2e-door');
      await editor.fill(good.replace('type: gauge', 'type: gauje'));
      await page.getByRole('button', { name: 'line 15' }).waitFor();
      await page.getByText(/did you mean gauge/).waitFor();
      assert.equal(await page.getByRole('button', { name: 'Store the addon' }).getAttribute('aria-disabled'), 'true');
      await editor.fill(good);
      await page.getByText('No mistakes.').waitFor();
      await page.getByLabel('Body of the answer').fill('{"open": 1}');
      await page.getByRole('button', { name: 'Try it', exact: true }).click();
      const result = page.getByRole('region', { name: 'What came of it' });
      await result.getByText('triggered').waitFor();
      await result.getByText('The door is open').first().waitFor();
      await page.getByLabel('Device', { exact: true }).fill('door-1');
      await page.getByLabel('Port (optional)').fill(String(port));
      await page.getByRole('button', { name: 'Ask it now' }).click();
      const said = page.getByRole('region', { name: 'What the device said' });
      await said.getByText('"path":"/status"').waitFor();
      await result.getByText(`http://127.0.0.1:${port}/status`).waitFor();
      await result.getByText('triggered').waitFor();
      assert.equal((await world.api('GET', 'api/addons?q=e2e-door')).items.length, 0);
      await said.getByRole('button', { name: 'Go on with this answer' }).click();
      assert.match(await page.getByLabel('Body of the answer').inputValue(), /"path":"\/status"/);
      await page.getByRole('button', { name: 'Store the addon' }).click();
      await page.getByRole('heading', { name: 'e2e-door', level: 1 }).waitFor();
      await page.getByRole('tab', { name: /Alerts/ }).click();
      await page.getByText('open == 1').waitFor();
      const act = async (entry, button) => {
        await page.getByRole('button', { name: 'Acts on e2e-door' }).click();
        await page.getByRole('menuitem', { name: entry }).click();
        await page.getByRole('dialog').getByRole('button', { name: button, exact: true }).click();
      };
      await act('Disable…', 'Disable');
      await page.getByText('e2e-door is disabled').waitFor();
      await act('Enable…', 'Enable');
      await page.getByText('e2e-door is enabled').waitFor();
      await act('Remove…', 'Remove');
      await page.getByText('e2e-door is removed').waitFor();
      await page.getByRole('heading', { name: 'Addons', level: 1 }).waitFor();
    },
  },
];
