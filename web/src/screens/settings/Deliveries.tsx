// The log of deliveries: what was sent to whom, whether it arrived, and what is held or was given up.
import { createMemo, createSignal, onCleanup, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, path } from '../../api/client';
import { live } from '../../api/live';
import { href } from '../../app/router';
import { Button, Dialog, Loaded, SelectField, Table, Time, toast, toastProblem } from '../../design';
import type { Column } from '../../design';
import { plural } from '../../logic/format';
import { keepRows } from '../../logic/keep_rows';
import { whyNot } from '../../state/session';
import { polled } from '../../state/polled';
import { pages } from './pages';
import type { Page, Pages } from './pages';
import { DeliveryMark } from './Receivers';
import type { Notification } from './shapes';

const kPage = 100;

export function Deliveries(props: { receivers: readonly string[]; seen: number }): JSX.Element {
  const [state, setState] = createSignal('');
  const [receiver, setReceiver] = createSignal('');
  const [open, setOpen] = createSignal<string | null>(null);
  const ask = (cursor: Page<Notification>['next'], signal?: AbortSignal) =>
    api.get<Page<Notification>>('api/notifications', { query: { state: state(), receiver: receiver(), limit: kPage, cursor }, ...(signal ? { signal } : {}) });
  const newest = polled((signal) => ask(undefined, signal), {
    key: () => `${state()} ${receiver()} ${props.seen}`,
    every: () => (list.open() ? undefined : 10_000),
  });
  const list: Pages<Notification> = pages({ newest: newest.data, ask, number: (row) => row.number, failed: 'Older deliveries could not be loaded' });
  let soon: ReturnType<typeof setTimeout> | undefined;
  onCleanup(() => clearTimeout(soon));
  onCleanup(live.on(['incident_changed'], () => (soon ??= setTimeout(() => ((soon = undefined), void newest.refresh()), 2000))));
  const rows = createMemo<readonly Notification[]>((before) => keepRows(before, list.rows(), (row) => row.id), []);
  const retry = async (one: Notification) => {
    try {
      await api.post(path`api/notifications/${one.id}/retry`, {});
      toast('ok', `The message to ${one.receiver} is tried once more.`);
      void newest.refresh();
    } catch (error) {
      toastProblem(error, 'It could not be tried again');
    }
  };
  const columns: Column<Notification>[] = [
    { id: 'made', title: 'When', width: '150px', fixed: true, cell: (row) => <Time at={row.made} />, value: (row) => row.number },
    { id: 'state', title: 'State', width: '110px', cell: (row) => <DeliveryMark state={row.state} />, value: (row) => row.state },
    { id: 'kind', title: 'What', width: '100px', cell: (row) => row.kind, value: (row) => row.kind },
    { id: 'to', title: 'To', width: 'minmax(140px, 1fr)', cell: (row) => <>{row.receiver} <span class="muted">by {row.channel}</span></>, value: (row) => `${row.receiver} ${row.channel}` },
    { id: 'route', title: 'Route', width: '120px', cell: (row) => row.route ?? '', value: (row) => row.route },
    { id: 'incident', title: 'Incident', width: '90px', cell: (row) => <Show when={row.incident}>{(id) => <a href={href('/incidents/:id', { id: id() })}>open</a>}</Show> },
    { id: 'attempts', title: 'Attempts', width: '84px', end: true, cell: (row) => row.attempts, value: (row) => row.attempts },
    { id: 'error', title: 'Last error', width: 'minmax(200px, 2fr)', cell: (row) => <span title={row.last_error}>{row.last_error ?? ''}</span> },
    { id: 'act', title: 'Acts', width: '56px', fixed: true, cell: (row) => <Show when={row.state === 'failed'}><Button dense bare kind="quiet" icon="refresh" label={`Try the message to ${row.receiver} once more`} disabledReason={whyNot('operate')} onClick={() => void retry(row)} /></Show> },
  ];
  const change = (act: () => void) => (list.reset(), act());
  return (
    <section class="stack" aria-label="Log of deliveries">
      <div class="row settings-log-head">
        <h2>Log of deliveries</h2>
        <span class="spring" />
        <SelectField label="State" value={state()} onChange={(value) => change(() => setState(value))} choices={[{ value: '', label: 'any state' }, 'waiting', 'delivered', 'failed', 'cancelled', 'held']} />
        <SelectField label="Receiver" value={receiver()} onChange={(value) => change(() => setReceiver(value))} choices={[{ value: '', label: 'any receiver' }, ...props.receivers]} />
      </div>
      <Loaded data={newest.data()} problem={newest.problem()} retry={newest.refresh} title="The log could not be loaded">
        {() => (
          <Table
            id="settings-deliveries"
            label="Log of deliveries"
            noun="message"
            grow={12}
            columns={columns}
            rows={rows()}
            rowKey={(row) => row.id}
            onOpen={(row) => setOpen(row.id)}
            cardHeight={82}
            card={(row) => (
              <div class="settings-card">
                <span class="row"><DeliveryMark state={row.state} /><span>{row.kind}</span><span class="spring" /><span class="muted small"><Time at={row.made} /></span></span>
                <span class="cut">{row.receiver} <span class="muted">by {row.channel}</span></span>
                <span class="muted small cut">{row.last_error}</span>
              </div>
            )}
            empty={<p class="muted panel-body">Nothing was sent{state() === '' && receiver() === '' ? ' yet' : ' that is like this'}.</p>}
            foot={<Show when={list.next() !== undefined}><Button dense busy={list.busy()} onClick={() => void list.more()}>Show older messages</Button></Show>}
          />
        )}
      </Loaded>
      <Show when={open()} keyed>{(id) => <MessageDialog id={id} onClose={() => setOpen(null)} />}</Show>
    </section>
  );
}

function MessageDialog(props: { id: string; onClose: () => void }): JSX.Element {
  const one = polled((signal) => api.get<Notification>(path`api/notifications/${props.id}`, { signal }), { every: 5000 });
  return (
    <Dialog title="Message" wide onClose={props.onClose} foot={<Button kind="primary" onClick={props.onClose}>Close</Button>}>
      <Loaded data={one.data()} problem={one.problem()} retry={one.refresh}>
        {(data) => (
          <>
            <dl class="facts">
              <dt>State</dt><dd><DeliveryMark state={data().state} /> <span class="muted small">{plural(data().attempts, 'attempt')}</span></dd>
              <dt>What</dt><dd>{data().kind}</dd>
              <dt>To</dt><dd>{data().receiver} by {data().channel}<Show when={data().route}>{(route) => <>, route {route()}</>}</Show></dd>
              <dt>Made</dt><dd><Time at={data().made} /></dd>
              <Show when={data().last_attempt}>{(at) => <><dt>Last attempt</dt><dd><Time at={at()} /></dd></>}</Show>
              <Show when={data().state === 'waiting' && data().not_before}>{(at) => <><dt>Next attempt</dt><dd><Time at={at() as string} relative /></dd></>}</Show>
              <Show when={data().last_error}>{(text) => <><dt>Last error</dt><dd>{text()}</dd></>}</Show>
              <Show when={data().incident}>{(id) => <><dt>Incident</dt><dd><a href={href('/incidents/:id', { id: id() })}>{id()}</a></dd></>}</Show>
            </dl>
            <Show when={data().body !== undefined}><section><h3>What it says</h3><pre class="settings-code" tabindex={0}>{JSON.stringify(data().body, null, 2)}</pre></section></Show>
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
