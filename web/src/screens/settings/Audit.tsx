// Who did what, when, from where, why, and what it changed; whether the trail is whole; and all of it as a file.
import { createEffect, createMemo, createSignal, For, on, onCleanup, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, apiUrl, asProblem } from '../../api/client';
import { problemOf } from '../../api/problem';
import { Button, Dialog, EmptyState, Icon, Loaded, SelectField, StateMark, Table, TextField, Time, toast, toastProblem } from '../../design';
import type { Column } from '../../design';
import { count, plural } from '../../logic/format';
import { keepRows } from '../../logic/keep_rows';
import { may, whyNot } from '../../state/session';
import { polled } from '../../state/polled';
import { auditQuery, kNoFilter, laidOut } from './audit_filter';
import type { AuditFilter } from './audit_filter';
import { pages } from './pages';
import type { Page, Pages } from './pages';
import type { AuditRecord, AuditVerdict } from './shapes';

const kPage = 100;
const kDebounce = 300;
// All records are read.
const kVerifyPatience = 600_000;

export function Audit(): JSX.Element {
  return (
    <Show when={may('audit')} fallback={<div class="panel"><EmptyState icon="lock" title="The audit trail is for auditors and admins" text={whyNot('audit') ?? ''} /></div>}>
      <Trail />
    </Show>
  );
}

const kColumns: Column<AuditRecord>[] = [
  { id: 'number', title: 'Number', width: '84px', end: true, fixed: true, cell: (row) => count(row.number) },
  { id: 'at', title: 'When', width: '160px', cell: (row) => <Time at={row.at} /> },
  { id: 'principal', title: 'Who', width: 'minmax(120px, 1fr)', cell: (row) => <span title={row.principal}>{row.principal}</span> },
  { id: 'action', title: 'What', width: 'minmax(130px, 1fr)', cell: (row) => <span class="mono">{row.action}</span> },
  { id: 'object', title: 'Of what', width: 'minmax(140px, 1.4fr)', cell: (row) => <span class="mono" title={row.object}>{row.object}</span> },
  { id: 'result', title: 'Result', width: '106px', cell: (row) => <Result result={row.result} /> },
  { id: 'reason', title: 'Why', width: 'minmax(140px, 1.6fr)', cell: (row) => <span title={row.reason}>{row.reason}</span> },
  { id: 'address', title: 'From', width: '130px', cell: (row) => row.address },
  { id: 'after', title: 'After', width: 'minmax(200px, 2fr)', hidden: true, cell: (row) => <span class="mono" title={row.after}>{row.after}</span> },
];

function Result(props: { result: string }): JSX.Element {
  const state = () => (props.result === 'allowed' ? 'ok' : props.result === 'refused' ? 'warning' : 'failed');
  return <StateMark state={state()} word={props.result} />;
}

function Trail(): JSX.Element {
  const [filter, setFilter] = createSignal<AuditFilter>(kNoFilter);
  const [asked, setAsked] = createSignal<AuditFilter>(kNoFilter);
  const [open, setOpen] = createSignal<AuditRecord | null>(null);
  let timer: ReturnType<typeof setTimeout> | undefined;
  createEffect(
    on(filter, (now) => {
      clearTimeout(timer);
      timer = setTimeout(() => (list.reset(), setAsked(now)), kDebounce);
    }, { defer: true }),
  );
  onCleanup(() => clearTimeout(timer));
  const ask = (cursor: Page<AuditRecord>['next'], signal?: AbortSignal) =>
    api.get<Page<AuditRecord>>('api/audit', { query: { ...auditQuery(asked()), limit: kPage, cursor }, ...(signal ? { signal } : {}) });
  const newest = polled((signal) => ask(undefined, signal), { key: asked, every: () => (list.open() ? undefined : 15_000) });
  const list: Pages<AuditRecord> = pages({ newest: newest.data, ask, number: (row) => row.number, failed: 'Older records could not be loaded' });
  const rows = createMemo<readonly AuditRecord[]>((before) => keepRows(before, list.rows(), (row) => String(row.number)), []);
  const set = (change: Partial<AuditFilter>) => setFilter((before) => ({ ...before, ...change }));
  return (
    <div class="stack">
      <div class="row"><h2>Audit trail</h2><span class="spring" /><Export filter={asked()} /></div>
      <Verify />
      <div class="settings-audit-filter" role="search" aria-label="Filter the audit trail">
        <TextField label="Who" placeholder="user:ada" value={filter().principal} onInput={(principal) => set({ principal })} />
        <TextField label="What" placeholder="breaker. or breaker.reset" value={filter().action} onInput={(action) => set({ action })} />
        <TextField label="Of what" placeholder="pve::pve-node1" value={filter().object} onInput={(object) => set({ object })} />
        <SelectField label="Result" value={filter().result} onChange={(result) => set({ result })} choices={[{ value: '', label: 'any' }, 'allowed', 'refused', 'failed']} />
        <TextField label="From" type="datetime-local" value={filter().from} onInput={(from) => set({ from })} />
        <TextField label="Until" type="datetime-local" value={filter().to} onInput={(to) => set({ to })} />
        <Button disabled={filter() === kNoFilter} onClick={() => setFilter(kNoFilter)}>Clear</Button>
      </div>
      <Loaded data={newest.data()} problem={newest.problem()} retry={newest.refresh} title="The audit trail could not be loaded" lines={10}>
        {() => (
          <Table
            id="settings-audit"
            label="Audit trail"
            noun="record"
            grow={20}
            columns={kColumns}
            rows={rows()}
            rowKey={(row) => String(row.number)}
            onOpen={setOpen}
            cardHeight={84}
            card={(row) => (
              <div class="settings-card">
                <span class="row"><Result result={row.result} /><span class="mono cut">{row.action}</span><span class="spring" /><span class="muted small"><Time at={row.at} /></span></span>
                <span class="cut">{row.principal} <span class="muted">{row.object}</span></span>
                <span class="muted small cut">{row.reason}</span>
              </div>
            )}
            empty={<p class="muted panel-body">No record is like this filter.</p>}
            foot={<Show when={list.next() !== undefined}><Button dense busy={list.busy()} onClick={() => void list.more()}>Show older records</Button></Show>}
          />
        )}
      </Loaded>
      <Show when={open()} keyed>{(record) => <RecordDialog record={record} onClose={() => setOpen(null)} />}</Show>
    </div>
  );
}

function RecordDialog(props: { record: AuditRecord; onClose: () => void }): JSX.Element {
  return (
    <Dialog title={`Record ${count(props.record.number)}`} wide onClose={props.onClose} foot={<Button kind="primary" onClick={props.onClose}>Close</Button>}>
      <dl class="facts">
        <dt>When</dt><dd><Time at={props.record.at} /></dd>
        <dt>Who</dt><dd>{props.record.principal}<Show when={props.record.address}> <span class="muted">from {props.record.address}</span></Show></dd>
        <dt>What</dt><dd><code>{props.record.action}</code></dd>
        <dt>Of what</dt><dd><code>{props.record.object}</code></dd>
        <dt>Result</dt><dd><Result result={props.record.result} /></dd>
        <dt>Why</dt><dd>{props.record.reason || <span class="muted">no reason was given</span>}</dd>
        <Show when={props.record.request_id}><dt>Request</dt><dd><code>{props.record.request_id}</code></dd></Show>
      </dl>
      <div class="settings-states">
        <section><h3>Before</h3><pre class="settings-code" tabindex={0}>{laidOut(props.record.before) || '–'}</pre></section>
        <section><h3>After</h3><pre class="settings-code" tabindex={0}>{laidOut(props.record.after) || '–'}</pre></section>
      </div>
    </Dialog>
  );
}

function Export(props: { filter: AuditFilter }): JSX.Element {
  const [busy, setBusy] = createSignal(false);
  const go = async () => {
    setBusy(true);
    try {
      const response = await fetch(apiUrl('api/audit/export', auditQuery(props.filter)), { credentials: 'same-origin' });
      if (!response.ok) throw await problemOf(response);
      const file = URL.createObjectURL(await response.blob());
      const link = document.createElement('a');
      link.href = file;
      link.download = `audit-${new Date().toISOString().slice(0, 10)}.jsonl`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(file), 10_000);
      toast('ok', 'The trail is being saved as JSON lines.');
    } catch (error) {
      toastProblem(asProblem(error), 'The trail could not be exported');
    }
    setBusy(false);
  };
  return <Button icon="download" busy={busy()} title="What the filter holds, oldest first, one JSON object per line" onClick={() => void go()}>Export</Button>;
}

function Verify(): JSX.Element {
  const [verdict, setVerdict] = createSignal<AuditVerdict | null>(null);
  const [busy, setBusy] = createSignal(false);
  const go = async () => {
    setBusy(true);
    try {
      setVerdict(await api.get<AuditVerdict>('api/audit/verify', { patience: kVerifyPatience }));
    } catch (error) {
      toastProblem(error, 'The trail could not be checked');
    }
    setBusy(false);
  };
  return (
    <section class="panel" aria-label="Check of the trail">
      <div class="panel-head settings-plain">
        <Show when={verdict()} fallback={<span class="muted small">Each record is chained to the one before it; a check reads all of them and finds what was changed, moved or cut off.</span>}>
          {(one) => (
            <span role="status">
              <StateMark state={one().ok ? 'ok' : 'failed'} word={one().ok ? 'The trail is whole' : `${plural(one().found, 'finding')}`} />{' '}
              <span class="muted small">
                {plural(one().records, 'record')} ({count(one().first)} to {count(one().last)}), {plural(one().checkpoints, 'checkpoint')}; {plural(Math.max(0, one().last - one().newest_checkpoint), 'record')} after the newest one
                <Show when={one().newest_checkpoint_time}>{(at) => <>, of <Time at={at()} /></>}</Show>
              </span>
            </span>
          )}
        </Show>
        <span class="spring" />
        <Button icon="check" busy={busy()} onClick={() => void go()}>Check the trail</Button>
      </div>
      <Show when={(verdict()?.findings ?? []).length > 0}>
        <ul class="panel-body stack">
          <For each={verdict()?.findings}>{(one) => <li class="row"><Icon name="warning" /><code>{one.code}</code><span>record {count(one.number)}: {one.text}</span></li>}</For>
        </ul>
      </Show>
    </section>
  );
}
