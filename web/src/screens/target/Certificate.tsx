// The certificate behind a tls-certificate target, from its newest values and its alerts.
import { For, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, path } from '../../api/client';
import { Bar, StateMark } from '../../design';
import { localTime, parseTime, timeTitle } from '../../logic/clock';
import { count, duration } from '../../logic/format';
import { fetched } from '../../parts/fetched';
import type { Alert } from '../../parts/model';
import type { HistoryAnswer, HistorySeries } from './history';

export function Certificate(props: { target: string; alerts: readonly Alert[] }): JSX.Element {
  const list = fetched(() => props.target, (key, signal) => api.get<HistoryAnswer>(path`api/targets/${key}/history`, { signal }), { every: 60, soonest: 20_000 });
  const series = () => list.data()?.series ?? [];
  const one = (metric: string): HistorySeries | undefined => series().find((row) => row.metric === metric && row.row === '');
  const value = (metric: string): number | undefined => one(metric)?.last;
  const ends = (): number | null => {
    const at = parseTime(one('days_left')?.at);
    const days = value('days_left');
    return at === null || days === undefined ? null : at + days * 86_400_000;
  };
  const raised = (type: string) => props.alerts.find((alert) => alert.alert_type === type && alert.status !== 'resolved');
  const tone = () => (raised('certificate_ended') ? 'bad' : raised('certificate_ends') ? 'warn' : 'ok');
  const chain = () => series().filter((row) => row.metric === 'chain_days_left').sort((a, b) => (a.last ?? 0) - (b.last ?? 0));
  return (
    <Show when={value('days_left') !== undefined}>
      <section class="panel" aria-label="Certificate">
        <div class="panel-head"><h2>Certificate</h2></div>
        <div class="panel-body stack">
          <div class="certificate-head">
            <strong class={`certificate-days tone-${tone()}`}>
              {(value('days_left') ?? 0) < 0 ? `ended ${duration(-(value('days_left') ?? 0) * 86_400)} ago` : `${duration((value('days_left') ?? 0) * 86_400)} left`}
            </strong>
            <span class="muted">
              ends <Show when={ends()} fallback="–">{(at) => <time dateTime={new Date(at()).toISOString()} title={timeTitle(at())}>{localTime(at(), 0).slice(0, 16)}</time>}</Show>
            </span>
          </div>
          <Show when={value('lifetime_used') !== undefined}>
            <Bar
              value={value('lifetime_used') ?? 0}
              max={100}
              text={`${count(value('lifetime_used'), 1)} % of ${count(value('lifetime'))} days used`}
              tone={tone() === 'ok' ? 'info' : tone()}
              title="Warned by the share of the lifetime that is left"
            />
          </Show>
          <dl class="facts">
            <dt>Chain</dt><dd><Judged alert={raised('chain_bad')} good="leads to a root we trust" bad="does not lead to a trusted root" /></dd>
            <dt>Name</dt><dd><Judged alert={raised('name_bad')} good="is for this name" bad="is not for this name" /></dd>
            <Show when={value('reserve') !== undefined}><dt>Reserve</dt><dd>{count(value('reserve'), 1)} % of its lifetime is left</dd></Show>
          </dl>
          <Show when={chain().length > 0}>
            <div>
              <h3>Certificates of the chain</h3>
              <ul class="certificate-chain"><For each={chain()}>{(row) => <li><span class="cut" title={row.row}>{row.row}</span><span class="muted">{duration((row.last ?? 0) * 86_400)} left</span></li>}</For></ul>
            </div>
          </Show>
        </div>
      </section>
    </Show>
  );
}

function Judged(props: { alert: Alert | undefined; good: string; bad: string }): JSX.Element {
  return <Show when={props.alert} fallback={<StateMark state="ok" word={props.good} />}>{(alert) => <StateMark state={alert().severity} word={props.bad} />}</Show>;
}
