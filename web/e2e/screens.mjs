// All screens of the dashboard, and what opens over them, for who looks at each: the checks of every screen and the pictures.
import { kPatience, pause } from './world.mjs';

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
  { name: 'settings-groups', hash: '#/settings?tab=groups' },
  { name: 'settings-credentials', hash: '#/settings?tab=credentials' },
  { name: 'settings-users', hash: '#/settings?tab=users' },
  { name: 'settings-tokens', hash: '#/settings?tab=tokens' },
  { name: 'settings-audit', hash: '#/settings?tab=audit' },
  { name: 'settings-account', hash: '#/settings?tab=account' },
  { name: 'target', hash: '#/targets/snmp-interfaces%3A%3Asw-00002' },
  { name: 'target-down', hash: '#/targets/snmp-interfaces%3A%3Asw-00001' },
  { name: 'target-why', hash: '#/targets/snmp-interfaces%3A%3Asw-00002?tab=why' },
  { name: 'target-runs', hash: '#/targets/snmp-interfaces%3A%3Asw-00002?tab=runs' },
  { name: 'target-alerts', hash: '#/targets/snmp-interfaces%3A%3Asw-00001?tab=alerts' },
  { name: 'target-settings', hash: '#/targets/snmp-interfaces%3A%3Asw-00002?tab=settings' },
  { name: 'device', hash: '#/devices/sw-00001' },
  { name: 'device-alerts', hash: '#/devices/sw-00001?tab=alerts' },
  { name: 'device-settings', hash: '#/devices/sw-00001?tab=settings' },
  { name: 'device-snmp', hash: '#/devices/sw-00001?tab=snmp' },
];

/** Those of what was made in this world. */
export const madeScreens = ({ incident, alert, job, batch }) => [
  { name: 'incident', hash: `#/incidents/${encodeURIComponent(incident)}` },
  { name: 'alert', hash: `#/alerts/${encodeURIComponent(alert)}` },
  { name: 'job', hash: `#/jobs/${encodeURIComponent(job)}` },
  { name: 'batch', hash: `#/jobs/batches/${encodeURIComponent(batch)}` },
  { name: 'nothing-here', hash: '#/targets/nobody%3A%3Anowhere' },
  { name: 'status', hash: 'status' },
];

const frames = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** In the page: what is on its way into sight, as words; what turns for ever may turn, and what is out of sight may wait. */
function unfinished() {
  // Of a box that scrolls, what lies beyond its edge is out of sight too: below it stands the navigation of a phone.
  const main = document.querySelector('main')?.getBoundingClientRect();
  const [begin, end] = [Math.max(0, main?.top ?? 0), Math.min(innerHeight, main?.bottom ?? innerHeight)];
  const seen = ({ top, bottom }) => bottom > begin && top < end;
  const moving = document.getAnimations().filter((one) => one.playState === 'running' && one.effect.getComputedTiming().iterations !== Infinity);
  return [
    ...(document.querySelector('h1, h2') === null ? ['no headline'] : []),
    ...[...document.querySelectorAll('.skeleton')].filter((one) => seen(one.getBoundingClientRect())).map((one) => `loading in ${one.parentElement.className}`),
    ...moving.map((one) => `moving: ${one.effect.target?.className}`),
  ];
}

/** Waits until the screen has what it shows: every answer has come, nothing is loading, nothing moves; also after a change of its look. */
export async function settle(visit) {
  const { page } = visit;
  const end = Date.now() + kPatience;
  // What an answer brings may ask for more, so twice in a row.
  for (let calm = 0; calm < 2; ) {
    await frames(page);
    const open = [...visit.asking(), ...(await page.evaluate(unfinished))];
    calm = open.length === 0 ? calm + 1 : 0;
    if (calm > 0) continue;
    if (Date.now() > end) throw new Error(`${page.url()} was not whole after ${kPatience / 1000} s: ${open.join('; ')}`);
    await pause(30);
  }
}

/** A graph of jobs to look at, of a device that answers. */
export async function makeBatch(world) {
  const poll = (name, ...parents) => ({ name, type: 'poll', target: 'snmp-system::sw-00002', ...(parents.length > 0 && { depends_on: parents }) });
  const { batch, ids } = await world.api('POST', 'api/jobs', { name: 'look', jobs: [poll('a'), poll('b', 'a'), poll('c', 'a'), poll('d', 'b', 'c')] });
  return { batch, job: ids[3] };
}
