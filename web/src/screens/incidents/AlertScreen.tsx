// One alert: evidence, timeline, who was told; with the incident it belongs to.
import { createSignal, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { href, navigate, param } from '../../app/router';
import { api, path } from '../../api/client';
import { Badge, Button, Icon, Menu, StateMark, Time } from '../../design';
import { AckDialog } from '../../parts/AckDialog';
import { changeAlerts, removeAlert, resolveAlerts, unacknowledge } from '../../parts/alert_acts';
import { fetched } from '../../parts/fetched';
import { ObjectPage } from '../../parts/ObjectPage';
import type { AlertPage } from '../../parts/model';
import { matcher } from '../../parts/silence';
import { SilenceDialog } from '../../parts/SilenceDialog';
import { whyNot } from '../../state/session';
import { Evidence, Timeline, Told } from './Story';
import './incidents.css';

export default function AlertScreen(): JSX.Element {
  const id = () => param('id');
  const alert = fetched(id, (wanted, signal) => api.get<AlertPage>(path`api/alerts/${wanted}`, { signal }), {
    events: ['alert_created', 'alert_updated', 'alert_resolved'], concerns: (event) => (event.data as { id?: string }).id === id(), every: 60,
  });
  return (
    <ObjectPage object={alert} none={{ title: 'There is no such alert', text: 'It was forgotten, or it is not in your part of the fleet.', link: href('/incidents', {}, { view: 'alerts' }), linkText: 'All alerts' }}>
      {(now) => <Loaded alert={now()} refetch={alert.refetch} />}
    </ObjectPage>
  );
}

function Loaded(props: { alert: AlertPage; refetch: () => void }): JSX.Element {
  const [asks, setAsks] = createSignal<'' | 'ack' | 'silence'>('');
  const over = () => (props.alert.status === 'resolved' ? 'It is over.' : undefined);
  const ids = () => [props.alert.id];
  return (
    <div class="page">
      <header class="incident-head">
        <a class="small muted incident-back" href={href('/incidents', {}, { view: 'alerts' })}><Icon name="left" size={13} />Alerts</a>
        <div class="page-head">
          <StateMark state={props.alert.severity} size={16} />
          <h1 class="incident-title">{props.alert.title}</h1>
          <span class="spring" />
          <Show when={props.alert.status === 'acknowledged'} fallback={<Button kind="primary" icon="check" disabledReason={whyNot('operate') ?? over()} onClick={() => setAsks('ack')}>Acknowledge</Button>}>
            <Button disabledReason={whyNot('operate')} onClick={() => void unacknowledge(ids()).then((ok) => ok && props.refetch())}>Take back</Button>
          </Show>
          <Button icon="silence" disabledReason={whyNot('operate') ?? (props.alert.device_name ? undefined : 'It belongs to no device.')} onClick={() => setAsks('silence')}>Silence</Button>
          <Menu label="More" icon="more" bare align="end" entries={() => [
            { label: 'Resolve…', icon: 'check', danger: true, disabledReason: whyNot('operate') ?? over(), run: () => void resolveAlerts(ids(), props.alert.title).then((ok) => ok && props.refetch()) },
            { label: 'Forget it…', icon: 'trash', danger: true, disabledReason: whyNot('manage'), run: () => void removeAlert(props.alert.id).then((ok) => ok && navigate(href('/incidents', {}, { view: 'alerts' }))) },
          ]} />
        </div>
        <p class="incident-summary">
          <StateMark state={props.alert.status} />
          <Show when={props.alert.flapping}><Badge tone="warn">flapping</Badge></Show>
          <Show when={props.alert.stale}><Badge tone="stale">stale</Badge></Show>
          <span class="muted">since <Time at={props.alert.first_seen} /></span>
          <Show when={props.alert.incident_summary}>{(incident) => <span>of the incident <a href={href('/incidents/:id', { id: incident().id }, { alert: props.alert.id })}>{incident().title}</a></span>}</Show>
          <Show when={props.alert.previous}>{(before) => <a class="small" href={href('/alerts/:id', { id: before() })}>the one before</a>}</Show>
        </p>
      </header>
      <div class="incident-columns">
        <section class="panel" aria-label="Evidence"><div class="panel-head"><h2>Evidence</h2></div><div class="panel-body"><Evidence alert={props.alert} /></div></section>
        <div class="stack">
          <Timeline entries={props.alert.timeline} title={() => undefined} />
          <Told notifications={props.alert.notifications} changed={props.refetch} />
        </div>
      </div>
      <Show when={asks() === 'ack'}>
        <AckDialog title="Acknowledge this alert" onClose={() => setAsks('')} act={async (body) => (await changeAlerts('acknowledge', ids(), body), props.refetch())} />
      </Show>
      <Show when={asks() === 'silence'}>
        <SilenceDialog
          about={props.alert.device_name ?? ''}
          scopes={[
            { label: 'Alerts of this type there', matchers: [matcher('device', props.alert.device_name ?? ''), matcher('alertname', props.alert.alert_type ?? '')] },
            { label: 'The whole device', matchers: [matcher('device', props.alert.device_name ?? '')] },
          ]}
          onClose={() => setAsks('')}
        />
      </Show>
    </div>
  );
}
