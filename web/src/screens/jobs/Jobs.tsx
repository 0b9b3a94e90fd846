// Work that is done once: the list, sweeps of networks, and the resources jobs share.
import { lazy } from 'solid-js';
import type { JSX } from 'solid-js';
import { href, navigate, query, setQuery } from '../../app/router';
import { Button, Tabs } from '../../design';
import { whyNot } from '../../state/session';
import { JobList } from './JobList';
import './jobs.css';

const Discovery = lazy(() => import('./Discovery'));
const Resources = lazy(() => import('./Resources'));

export default function Jobs(): JSX.Element {
  return (
    <div class="page fill jobs-page">
      <div class="page-head">
        <h1>Jobs</h1>
        <span class="spring" />
        <Button kind="primary" icon="plus" disabledReason={whyNot('operate')} onClick={() => navigate(href('/jobs/new'))}>Submit jobs</Button>
      </div>
      <Tabs
        label="Jobs"
        now={query('tab')}
        onChange={(tab) => setQuery({ tab: tab === 'list' ? '' : tab, filter: '' })}
        tabs={[
          { id: 'list', title: 'Jobs', content: () => <JobList /> },
          { id: 'discovery', title: 'Discovery', content: () => <Discovery /> },
          { id: 'resources', title: 'Resources and types', content: () => <Resources /> },
        ]}
      />
    </div>
  );
}
