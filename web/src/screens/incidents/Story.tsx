// What incidents and alerts have to tell: timeline, evidence, who was told.
import { createMemo, createSignal, For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { href } from '../../app/router';
import { api, path } from '../../api/client';
import { Badge, Button, StateMark, Time, toast, toastProblem } from '../../design';
import type { Alert, AlertPage, Notification, TimelineEntry } from '../../parts/model';
import { whyNot } from '../../state/session';
import { who } from '../../parts/who';
import { steps } from './timeline';

const kFirstSteps = 12;

export function Timeline(props: { entries: readonly TimelineEntry[]; title: (alert: string) => string | undefined }): JSX.Element {
  const all = createMemo(() => steps(props.entries).reverse());
  const [whole, setWhole] = createSignal(false);
  const shown = () => (whole() ? all() : all().slice(0, kFirstSteps));
  return (
    <section class="panel" aria-label="Timeline">
      <div class="panel-head"><h2>Timeline</h2></div>
      <Show when={all().length > 0} fallback={<p class="panel-body muted">Nothing is recorded.</p>}>
        <ol class="incident-timeline">
          <For each={shown()}>
            {(step) => (
              <li class={`incident-step kind-${step.kind}`}>
                <span class="muted small incident-when"><Time at={step.at} /></span>
                <span class="incident-what">
                  <span class="incident-word">{step.text}</span>
                  <Show when={step.by}> by <strong>{step.by}</strong></Show>
                  <Show when={step.detail}><div class={step.kind === 'note' ? 'incident-note' : 'muted small'}>{step.detail}</div></Show>
                  <Show when={step.alerts.length === 1 && props.title(step.alerts[0] as string)}>{(title) => <div class="muted small">{title()}</div>}</Show>
                </span>
              </li>
            )}
          </For>
        </ol>
        <Show when={all().length > kFirstSteps}>
          <div class="panel-body"><Button dense kind="quiet" icon={whole() ? 'up' : 'down'} onClick={() => setWhole(!whole())}>{whole() ? 'Fewer' : `All ${all().length} steps`}</Button></div>
        </Show>
      </Show>
    </section>
  );
}

const kTold: Record<string, string> = {
  held: 'recorded, not sent: alerts are under review',
  waiting: 'waits for its next attempt',
  failed: 'given up',
  cancelled: 'was over before it was sent',
  delivered: 'arrived',
};

export function Told(props: { notifications: readonly Notification[]; changed: () => void }): JSX.Element {
  const retry = async (one: Notification) => {
    try {
      await api.post(path`api/notifications/${one.id}/retry`, {});
      toast('ok', `Sending to ${one.receiver} is tried once more`);
      props.changed();
    } catch (error) {
      toastProblem(error, 'It could not be tried again');
    }
  };
  return (
    <section class="panel" aria-label="Who was told">
      <div class="panel-head"><h2>Who was told</h2></div>
      <Show when={props.notifications.length > 0} fallback={<p class="panel-body muted">Nobody yet. A route may be missing, or a silence, quiet hours or the review hold it back.</p>}>
        <ul class="incident-told">
          <For each={[...props.notifications].sort((a, b) => b.number - a.number)}>
            {(one) => (
              <li>
                <span class="muted small incident-when"><Time at={one.made} /></span>
                <span class="incident-what">
                  <strong>{one.receiver}</strong> by {one.channel} <span class="muted">({one.kind})</span>
                  <div class="row small">
                    <StateMark state={one.state} /><span class="muted">{kTold[one.state] ?? ''}{one.attempts > 1 ? `, ${one.attempts} attempts` : ''}</span>
                    <Show when={one.state === 'failed'}><Button dense icon="refresh" disabledReason={whyNot('operate')} onClick={() => void retry(one)}>Try again</Button></Show>
                  </div>
                  <Show when={one.last_error}><div class="small incident-error">{one.last_error}</div></Show>
                </span>
              </li>
            )}
          </For>
        </ul>
      </Show>
    </section>
  );
}

/** The rule and the value that fired. */
export function Evidence(props: { alert: AlertPage }): JSX.Element {
  const fields = () => Object.entries(props.alert.evidence?.fields ?? {});
  return (
    <div class="stack">
      <p class="incident-message">{props.alert.message ?? props.alert.title}</p>
      <dl class="facts">
        <Show when={props.alert.target}>{(key) => (<><dt>Target</dt><dd><a href={href('/targets/:key', { key: key() })}>{key()}</a></dd></>)}</Show>
        <Show when={props.alert.device_name}>{(name) => (<><dt>Device</dt><dd><a href={href('/devices/:name', { name: name() })}>{name()}</a> <span class="muted mono">{props.alert.device_ip}</span></dd></>)}</Show>
        <Show when={props.alert.subject}><dt>Which one</dt><dd>{props.alert.subject}</dd></Show>
        <dt>Type</dt><dd><code>{props.alert.alert_type}</code> <span class="muted">of {props.alert.addon ?? props.alert.source}</span></dd>
        <Show when={props.alert.evidence?.rule}>{(rule) => (<><dt>Rule</dt><dd><code>{rule()}</code></dd></>)}</Show>
        <For each={fields()}>{([name, value]) => (<><dt>{name}</dt><dd><code>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</code></dd></>)}</For>
        <dt>First seen</dt><dd><Time at={props.alert.first_seen} /> (<Time at={props.alert.first_seen} relative />)</dd>
        <dt>Last seen</dt><dd><Time at={props.alert.last_seen} relative />, {props.alert.occurrence_count === 1 ? 'once' : `${props.alert.occurrence_count} times`}</dd>
        <Acknowledged alert={props.alert} />
        <Show when={props.alert.resolved_at}><dt>Resolved</dt><dd><Time at={props.alert.resolved_at} /> ({props.alert.resolved_by}{props.alert.resolved_who ? ` ${who(props.alert.resolved_who)}` : ''})</dd></Show>
        <Show when={props.alert.suppressed_by}>{(by) => (<><dt>Suppressed</dt><dd>{by() === 'parent' ? 'what it stands behind is down' : by() === 'observer' ? 'our own view is impaired' : 'it flaps'}</dd></>)}</Show>
      </dl>
      <Show when={Object.keys(props.alert.labels).length > 0}>
        <div class="row"><For each={Object.entries(props.alert.labels)}>{([name, value]) => <Badge>{name}={value}</Badge>}</For></div>
      </Show>
    </div>
  );
}

export function Acknowledged(props: { alert: Alert }): JSX.Element {
  return (
    <Show when={props.alert.acknowledged_at}>
      <dt>Acknowledged</dt>
      <dd>
        by <strong>{who(props.alert.acknowledged_by)}</strong> <Time at={props.alert.acknowledged_at} relative />
        <Show when={props.alert.acknowledged_until}>, until <Time at={props.alert.acknowledged_until} /></Show>
        {props.alert.acknowledged_sticky === false ? ', ends when it becomes worse' : ''}
        <Show when={props.alert.acknowledged_note}><div class="muted">“{props.alert.acknowledged_note}”</div></Show>
      </dd>
    </Show>
  );
}
