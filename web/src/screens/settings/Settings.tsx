// Everything that can be set: polling, the server, people, and who did what.
import { createSignal } from 'solid-js';
import type { JSX } from 'solid-js';
import { query, setQuery } from '../../app/router';
import { Tabs } from '../../design';
import { Account } from './Account';
import { AllSettings } from './AllSettings';
import { Audit } from './Audit';
import { Credentials } from './Credentials';
import { FleetLists } from './FleetLists';
import { Monitoring } from './Monitoring';
import { Notifications } from './Notifications';
import type { Draft } from './setting_kind';
import { Silences } from './Silences';
import { Tokens } from './Tokens';
import { Users } from './Users';
import { Versions } from './Versions';
import './settings.css';

export default function Settings(): JSX.Element {
  // Kept while other tabs are looked at.
  const [draft, setDraft] = createSignal<Draft>({});
  const edits = () => Object.keys(draft()).length;
  return (
    <div class="page">
      <div class="page-head"><h1>Settings</h1></div>
      <Tabs
        label="Parts of the settings"
        now={query('tab') === '' ? 'monitoring' : query('tab')}
        onChange={(tab) => setQuery({ tab, filter: '' })}
        tabs={[
          { id: 'monitoring', title: 'Monitoring', ...(edits() > 0 ? { count: edits() } : {}), content: () => <Monitoring draft={draft()} setDraft={setDraft} /> },
          { id: 'all', title: 'All settings', content: () => <AllSettings /> },
          { id: 'versions', title: 'Versions', content: () => <Versions /> },
          { id: 'groups', title: 'Groups', content: () => <FleetLists /> },
          { id: 'credentials', title: 'Credentials', content: () => <Credentials /> },
          { id: 'notifications', title: 'Notifications', content: () => <Notifications /> },
          { id: 'silences', title: 'Silences', content: () => <Silences /> },
          { id: 'users', title: 'Users', content: () => <Users /> },
          { id: 'tokens', title: 'Tokens', content: () => <Tokens /> },
          { id: 'audit', title: 'Audit', content: () => <Audit /> },
          { id: 'account', title: 'Account', content: () => <Account /> },
        ]}
      />
    </div>
  );
}
