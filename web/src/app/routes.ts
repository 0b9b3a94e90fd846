// All screens, one line each: path, name, title, how it is loaded, and where it stands in the
// navigation (icon, key after `g`). A path part with a colon is a parameter.
import { screen } from './router';

export const routes = [
  screen('/', 'overview', 'Overview', () => import('../screens/overview/Overview'), { icon: 'overview', key: 'o' }),
  screen('/fleet', 'fleet', 'Fleet', () => import('../screens/fleet/Fleet'), { icon: 'fleet', key: 'f' }),
  screen('/targets/:key', 'target', 'Target', () => import('../screens/target/TargetScreen')),
  screen('/devices/:name', 'device', 'Device', () => import('../screens/device/DeviceScreen')),
  screen('/incidents', 'incidents', 'Incidents', () => import('../screens/incidents/Incidents'), { icon: 'incidents', key: 'i' }),
  screen('/incidents/:id', 'incident', 'Incident', () => import('../screens/incidents/IncidentScreen')),
  screen('/alerts/:id', 'alert', 'Alert', () => import('../screens/incidents/AlertScreen')),
  screen('/scheduler', 'scheduler', 'Scheduler', () => import('../screens/scheduler/Scheduler'), { icon: 'scheduler', key: 's' }),
  screen('/jobs', 'jobs', 'Jobs', () => import('../screens/jobs/Jobs'), { icon: 'jobs', key: 'j' }),
  screen('/jobs/new', 'submit', 'Submit jobs', () => import('../screens/jobs/SubmitPage')),
  screen('/jobs/batches/:batch', 'batch', 'Batch', () => import('../screens/jobs/BatchPage')),
  screen('/jobs/:id', 'job', 'Job', () => import('../screens/jobs/JobPage')),
  screen('/addons', 'addons', 'Addons', () => import('../screens/addons/Addons'), { icon: 'addons', key: 'a' }),
  screen('/addons/new', 'new-addon', 'New addon', () => import('../screens/addons/NewAddon')),
  screen('/addons/:name', 'addon', 'Addon', () => import('../screens/addons/AddonPage')),
  screen('/settings', 'settings', 'Settings', () => import('../screens/settings/Settings'), { icon: 'settings', key: ',' }),
];
