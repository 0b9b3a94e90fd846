// What the scheduler does, how well, and what it cannot do: in five parts.
import type { JSX } from 'solid-js';
import { Tabs } from '../../design';
import { query, setQuery } from '../../app/router';
import { useKeys } from '../../app/keys';
import { Failures } from './Failures';
import { liveStats } from './live_stats';
import { Now } from './Now';
import { PlanTab } from './Plan';
import { PoliciesTab } from './Policies';
import { WorkersTab } from './Workers';
import './scheduler.css';

export default function Scheduler(): JSX.Element {
  const stats = liveStats();
  const show = (tab: string) => setQuery({ tab: tab === 'now' ? '' : tab });
  useKeys('Scheduler', {
    '1': ['Now', () => show('now')],
    '2': ['Failures', () => show('failures')],
    '3': ['Plan', () => show('plan')],
    '4': ['Policies and cost', () => show('policies')],
    '5': ['Workers and queues', () => show('workers')],
  });
  const failing = () => {
    const now = stats.now();
    return now === null ? undefined : Math.max(now.breakers, now.dead_letters);
  };
  return (
    <div class="page">
      <div class="page-head"><h1>Scheduler</h1></div>
      <Tabs
        label="Parts of the scheduler"
        now={query('tab') === '' ? 'now' : query('tab')}
        onChange={show}
        tabs={[
          { id: 'now', title: 'Now', content: () => <Now stats={stats} /> },
          { id: 'failures', title: 'Failures', ...(failing() ? { count: failing() as number } : {}), content: () => <Failures /> },
          { id: 'plan', title: 'Plan', content: () => <PlanTab /> },
          { id: 'policies', title: 'Policies and cost', content: () => <PoliciesTab /> },
          { id: 'workers', title: 'Workers and queues', content: () => <WorkersTab /> },
        ]}
      />
    </div>
  );
}
