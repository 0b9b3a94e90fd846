// What can be said about an incident from its alerts. Pure, for its test.
import type { Alert, Incident } from '../../parts/model';

export interface IncidentState {
  /** open, acknowledged or resolved */
  word: 'open' | 'acknowledged' | 'resolved';
  acknowledgedBy: string;
  suppressed: number;
  open: number;
}

/** Acknowledged: every open alert that is a cause, not a consequence, has somebody. */
export function incidentState(incident: Pick<Incident, 'status'>, alerts: readonly Alert[]): IncidentState {
  const open = alerts.filter((one) => one.status !== 'resolved');
  const causes = open.filter((one) => one.status !== 'suppressed' && one.status !== 'pending');
  const held = causes.filter((one) => one.status === 'acknowledged');
  const word = incident.status === 'resolved' ? 'resolved' : causes.length > 0 && held.length === causes.length ? 'acknowledged' : 'open';
  return {
    word,
    acknowledgedBy: held[0]?.acknowledged_by ?? '',
    suppressed: open.filter((one) => one.status === 'suppressed' || one.suppressed_by !== undefined).length,
    open: open.length,
  };
}

export function byIncident(alerts: readonly Alert[]): Map<string, Alert[]> {
  const found = new Map<string, Alert[]>();
  for (const alert of alerts) {
    if (alert.incident === undefined) continue;
    const lot = found.get(alert.incident);
    if (lot) lot.push(alert);
    else found.set(alert.incident, [alert]);
  }
  return found;
}

export interface Branch {
  device: string;
  alerts: Alert[];
}

/** Of alerts about the same thing only the newest: what came before it is in the timeline. */
export function newestOf(alerts: readonly Alert[]): Alert[] {
  const found = new Map<string, Alert>();
  for (const alert of alerts) {
    const before = found.get(alert.fingerprint);
    if (before === undefined || before.number < alert.number) found.set(alert.fingerprint, alert);
  }
  return [...found.values()];
}

/** What hangs below the root, by device: its own first, then what is open, the most affected first. */
export function branches(root: Alert | undefined, affected: readonly Alert[]): Branch[] {
  const found = new Map<string, Alert[]>();
  for (const alert of newestOf(affected)) {
    if (alert.id === root?.id || alert.fingerprint === root?.fingerprint) continue;
    const device = alert.device_name ?? '';
    const lot = found.get(device);
    if (lot) lot.push(alert);
    else found.set(device, [alert]);
  }
  const own = root?.device_name ?? '';
  const open = (branch: Branch) => branch.alerts.filter((one) => one.status !== 'resolved').length;
  return [...found]
    .map(([device, alerts]) => ({ device, alerts: alerts.sort((a, b) => Number(a.status === 'resolved') - Number(b.status === 'resolved') || (a.title < b.title ? -1 : 1)) }))
    .sort((a, b) => Number(b.device === own) - Number(a.device === own) || open(b) - open(a) || (a.device < b.device ? -1 : 1));
}
