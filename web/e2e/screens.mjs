// All screens of the dashboard, for who looks at each of them: the check of access and the pictures.

export const kScreens = [
  { name: 'overview', hash: '#/' },
  { name: 'fleet', hash: '#/fleet' },
  { name: 'incidents', hash: '#/incidents' },
  { name: 'alerts', hash: '#/incidents?view=alerts' },
  { name: 'scheduler', hash: '#/scheduler' },
  { name: 'scheduler-failures', hash: '#/scheduler?tab=failures' },
  { name: 'scheduler-plan', hash: '#/scheduler?tab=plan' },
  { name: 'scheduler-policies', hash: '#/scheduler?tab=policies' },
  { name: 'scheduler-workers', hash: '#/scheduler?tab=workers' },
  { name: 'jobs', hash: '#/jobs' },
  { name: 'jobs-discovery', hash: '#/jobs?tab=discovery' },
  { name: 'jobs-resources', hash: '#/jobs?tab=resources' },
  { name: 'job-new', hash: '#/jobs/new' },
  { name: 'job-new-graph', hash: '#/jobs/new?tab=graph' },
  { name: 'addons', hash: '#/addons' },
  { name: 'addon-new', hash: '#/addons/new' },
  { name: 'addon', hash: '#/addons/http-json' },
  { name: 'addon-alerts', hash: '#/addons/http-json?tab=alerts' },
  { name: 'addon-manifest', hash: '#/addons/http-json?tab=manifest' },
  { name: 'settings-monitoring', hash: '#/settings' },
  { name: 'settings-all', hash: '#/settings?tab=all' },
  { name: 'settings-versions', hash: '#/settings?tab=versions' },
  { name: 'settings-notifications', hash: '#/settings?tab=notifications' },
  { name: 'settings-silences', hash: '#/settings?tab=silences' },
  { name: 'settings-users', hash: '#/settings?tab=users' },
  { name: 'settings-tokens', hash: '#/settings?tab=tokens' },
  { name: 'settings-audit', hash: '#/settings?tab=audit' },
  { name: 'settings-account', hash: '#/settings?tab=account' },
  { name: 'target', hash: '#/targets/snmp-interfaces%3A%3Asw-00002' },
  { name: 'target-down', hash: '#/targets/snmp-interfaces%3A%3Asw-00001' },
  { name: 'device', hash: '#/devices/sw-00001' },
  { name: 'device-snmp', hash: '#/devices/sw-00001?tab=snmp' },
];

/** Waits until the screen has what it shows. */
export async function settle(page) {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached' }).catch(() => undefined);
  await page.waitForTimeout(700);
}

/** A graph of jobs to look at; gives its number. */
export async function makeBatch(world) {
  const poll = (name, ...parents) => ({ name, type: 'poll', target: 'snmp-system::sw-00001', ...(parents.length > 0 && { depends_on: parents }) });
  const { batch } = await world.api('POST', 'api/jobs', { name: 'look', jobs: [poll('a'), poll('b', 'a'), poll('c', 'a'), poll('d', 'b', 'c')] });
  return batch;
}
