import { describe, expect, it } from 'vitest';
import type { Alert } from '../../parts/model';
import { branches, byIncident, incidentState } from './incident_state';

const alert = (id: string, status: Alert['status'], more: Partial<Alert> = {}): Alert => ({
  id, number: 1, severity: 'major', status, title: id, version: 1, fingerprint: id, source: 'poll', labels: {}, groups: [], occurrence_count: 1, flapping: false, stale: false, ...more,
});

describe('the state of an incident', () => {
  it('is acknowledged when all causes have somebody', () => {
    expect(incidentState({ status: 'open' }, [alert('a', 'acknowledged', { acknowledged_by: 'user:eve' }), alert('b', 'suppressed')])).toMatchObject({
      word: 'acknowledged', acknowledgedBy: 'user:eve', suppressed: 1, open: 2,
    });
    expect(incidentState({ status: 'open' }, [alert('a', 'acknowledged'), alert('b', 'active')]).word).toBe('open');
    expect(incidentState({ status: 'open' }, [alert('b', 'suppressed')]).word).toBe('open');
    expect(incidentState({ status: 'open' }, []).word).toBe('open');
    expect(incidentState({ status: 'resolved' }, [alert('a', 'acknowledged')]).word).toBe('resolved');
  });
  it('finds the alerts of an incident', () => {
    const map = byIncident([alert('a', 'active', { incident: 'x' }), alert('b', 'active', { incident: 'x' }), alert('c', 'active')]);
    expect(map.get('x')).toHaveLength(2);
    expect(map.size).toBe(1);
  });
  it('shows of what came back only the newest', () => {
    const found = branches(undefined, [alert('a', 'resolved', { fingerprint: 'f', number: 1 }), alert('b', 'active', { fingerprint: 'f', number: 2 })]);
    expect(found[0]?.alerts.map((one) => one.id)).toEqual(['b']);
  });
  it('hangs what is affected below the root, by device', () => {
    const root = alert('r', 'active', { device_name: 'core' });
    const found = branches(root, [root, alert('a', 'suppressed', { device_name: 'z' }), alert('b', 'suppressed', { device_name: 'z' }), alert('c', 'suppressed', { device_name: 'y' }), alert('d', 'active', { device_name: 'core' })]);
    expect(found.map((one) => [one.device, one.alerts.length])).toEqual([['core', 1], ['z', 2], ['y', 1]]);
  });
});
