// Silences: what nobody is told of, until when, whose and why.
import { createMemo, createSignal, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { allItems, api, path } from '../../api/client';
import { Button, EmptyState, FormDialog, FormErrors, Loaded, SelectField, StateMark, Table, TextAreaField, TextField, Time, useForm } from '../../design';
import type { Column } from '../../design';
import { serverNow, tick } from '../../logic/clock';
import { keepRows } from '../../logic/keep_rows';
import { kSilenceLengths, kUsualLength } from '../../parts/silence';
import { me, whyNot } from '../../state/session';
import { polled } from '../../state/polled';
import { askAndDo, saveForm, store } from './acts';
import { ActsMenu } from './ActsMenu';
import { matcherLines, matchers, silenceState } from './object_spec';
import type { SilenceState } from './object_spec';
import { adoptEntry, isOwned, Owner } from './Owner';
import type { FleetObject, SilenceSpec } from './shapes';

type Silence = FleetObject<SilenceSpec>;

const kMarks: Record<SilenceState, [string, string]> = {
  active: ['silenced', 'active'],
  later: ['pending', 'not yet'],
  over: ['disabled', 'over'],
  recurring: ['ready', 'recurs'],
};
const kOrder: Record<SilenceState, number> = { active: 0, recurring: 1, later: 2, over: 3 };

function SilenceMark(props: { silence: Silence }): JSX.Element {
  const mark = () => kMarks[silenceState(props.silence.spec, tick())];
  return <StateMark state={mark()[0]} word={mark()[1]} />;
}

export function Silences(): JSX.Element {
  const silences = polled((signal) => allItems<Silence>('api/silences', {}, 5000, signal), { every: 30_000 });
  const [editing, setEditing] = createSignal<Silence | 'new' | null>(null);
  const sorted = createMemo<readonly Silence[]>((before) => {
    const now = serverNow();
    const rows = [...(silences.data() ?? [])].sort((a, b) => kOrder[silenceState(a.spec, now)] - kOrder[silenceState(b.spec, now)] || a.name.localeCompare(b.name));
    return keepRows(before, rows, (row) => row.name);
  }, []);
  const expire = (one: Silence) => {
    const ends = silenceState(one.spec, serverNow()) === 'active';
    return askAndDo(
      {
        title: ends ? `End the silence ${one.name} now?` : `Remove the silence ${one.name}?`,
        text: ends ? 'What is open and was silenced is told now.' : 'It does not begin any more.',
        action: ends ? 'End it' : 'Remove',
        danger: true,
      },
      () => api.post(path`api/silences/${one.name}/expire`),
      { done: () => `The silence ${one.name} ${ends ? 'has ended' : 'is removed'}.`, failed: `The silence ${one.name} could not be ended` },
      silences.refresh,
    );
  };
  const Acts = (props: { silence: Silence }) => (
    <ActsMenu
      name={props.silence.name}
      entries={() => [
        { label: 'Edit', icon: 'edit', disabledReason: whyNot('operate') ?? isOwned(props.silence), run: () => setEditing(props.silence) },
        ...adoptEntry('silences', props.silence, silences.refresh),
        { label: silenceState(props.silence.spec, serverNow()) === 'active' ? 'End it now' : 'Remove', icon: 'close', danger: true, disabledReason: whyNot('operate') ?? isOwned(props.silence), run: () => void expire(props.silence) },
      ]}
    />
  );
  const columns: Column<Silence>[] = [
    { id: 'state', title: 'State', width: '106px', fixed: true, cell: (row) => <SilenceMark silence={row} />, value: (row) => kOrder[silenceState(row.spec, serverNow())] },
    { id: 'name', title: 'Name', width: 'minmax(130px, 1fr)', fixed: true, cell: (row) => <span class="row settings-nowrap"><span class="cut" title={row.name}>{row.name}</span><Owner object={row} /></span>, value: (row) => row.name },
    { id: 'match', title: 'What', width: 'minmax(180px, 2fr)', cell: (row) => <code title={matchers(row.spec.match).join(' ')}>{matchers(row.spec.match).join(' ')}</code> },
    { id: 'when', title: 'Until', width: 'minmax(150px, 1.2fr)', cell: (row) => <When spec={row.spec} />, value: (row) => row.spec.until },
    { id: 'owner', title: 'Owner', width: '110px', cell: (row) => row.spec.owner ?? '', value: (row) => row.spec.owner },
    { id: 'reason', title: 'Why', width: 'minmax(140px, 1.5fr)', cell: (row) => <span title={row.spec.reason}>{row.spec.reason}</span>, value: (row) => row.spec.reason },
    { id: 'act', title: 'Acts', width: '52px', fixed: true, cell: (row) => <Acts silence={row} /> },
  ];
  return (
    <div class="stack">
      <div class="row"><h2>Silences</h2><span class="muted small">alerts are raised and shown, but nobody is told</span><span class="spring" /><Button kind="primary" icon="plus" disabledReason={whyNot('operate')} onClick={() => setEditing('new')}>Add a silence</Button></div>
      <Loaded data={silences.data()} problem={silences.problem()} retry={silences.refresh} title="The silences could not be loaded">
        {() => (
          <Show when={sorted().length > 0} fallback={<div class="panel"><EmptyState icon="silence" title="Nothing is silenced" text="For planned work: a silence names what, until when, who asked for it and why." /></div>}>
            <Table
              id="settings-silences"
              label="Silences"
              noun="silence"
              grow={16}
              columns={columns}
              rows={sorted()}
              rowKey={(row) => row.name}
              onOpen={(row) => isOwned(row) === undefined && whyNot('operate') === undefined && setEditing(row)}
              cardHeight={86}
              card={(row) => (
                <div class="settings-card">
                  <span class="row"><SilenceMark silence={row} /><strong class="cut">{row.name}</strong><span class="spring" /><Acts silence={row} /></span>
                  <code class="cut small">{matchers(row.spec.match).join(' ')}</code>
                  <span class="muted small cut"><When spec={row.spec} />; {row.spec.owner}: {row.spec.reason}</span>
                </div>
              )}
            />
          </Show>
        )}
      </Loaded>
      <Show when={editing()} keyed>{(one) => <SilenceDialog silence={one === 'new' ? null : one} onClose={() => setEditing(null)} onDone={() => (setEditing(null), void silences.refresh())} />}</Show>
    </div>
  );
}

function When(props: { spec: SilenceSpec }): JSX.Element {
  return (
    <Show when={props.spec.cron} fallback={<><Show when={props.spec.from}>{(from) => <>from <Time at={from()} /> </>}</Show><Time at={props.spec.until} relative none="–" /></>}>
      {(cron) => <span title={props.spec.zone}><code>{cron()}</code> for {props.spec.duration}</span>}
    </Show>
  );
}

const kSpans = [
  ...kSilenceLengths.map(({ value, label }) => ({ value: value as string, label: `${label} from now` })),
  { value: 'times', label: 'From and until' },
  { value: 'cron', label: 'Again and again' },
];

const kFields = ['name', 'match', 'from', 'until', 'cron', 'duration', 'zone', 'owner', 'reason'];

const local = (text: string | undefined) => {
  if (text === undefined) return '';
  const at = new Date(text);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};
const utc = (text: string) => (text === '' ? undefined : new Date(text).toISOString());

function SilenceDialog(props: { silence: Silence | null; onClose: () => void; onDone: () => void }): JSX.Element {
  const spec = props.silence?.spec ?? {};
  const [name, setName] = createSignal(props.silence?.name ?? `${me()?.name ?? 'silence'}-${new Date(serverNow()).toISOString().slice(0, 16).replaceAll(':', '-').toLowerCase()}`);
  const [match, setMatch] = createSignal(matchers(spec.match).join('\n'));
  const [span, setSpan] = createSignal<string>(spec.cron !== undefined ? 'cron' : props.silence === null ? kUsualLength : 'times');
  const [from, setFrom] = createSignal(local(spec.from));
  const [until, setUntil] = createSignal(local(spec.until));
  const [cron, setCron] = createSignal(spec.cron ?? '');
  const [duration, setDuration] = createSignal(spec.duration ?? '');
  const [zone, setZone] = createSignal(spec.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [owner, setOwner] = createSignal(spec.owner ?? me()?.name ?? '');
  const [reason, setReason] = createSignal(spec.reason ?? '');
  const form = useForm();
  const times = (): SilenceSpec => {
    if (span() === 'cron') return { cron: cron().trim(), duration: duration().trim(), zone: zone().trim() };
    if (span() === 'times') {
      const first = utc(from());
      const last = utc(until());
      return { ...(first === undefined ? {} : { from: first }), ...(last === undefined ? {} : { until: last }), ...(spec.cron === undefined && spec.duration !== undefined ? { duration: spec.duration } : {}) };
    }
    return { until: new Date(serverNow() + Number(span()) * 1000).toISOString() };
  };
  const save = () =>
    void saveForm(
      form,
      async () => store('silences', props.silence, name().trim(), { match: matcherLines(match()), ...times(), owner: owner().trim(), reason: reason().trim() }),
      () => [`The silence ${name().trim()} is stored.`],
      props.onDone,
    );
  const error = (field: string) => form.problem()?.inside(field);
  return (
    <FormDialog
      title={props.silence === null ? 'Add a silence' : `Edit the silence ${props.silence.name}`}
      wide
      action={props.silence === null ? 'Silence' : 'Save'}
      busy={form.busy()}
      onClose={props.onClose}
      onSubmit={save}
    >
      <FormErrors problem={form.problem()} fields={form.problem()?.pointersInside(kFields) ?? []} />
      <TextAreaField label="What (matchers, one per line; all must hold)" mono rows={3} placeholder={'device="core-1"\nsite=~"ber.*"'} value={match()} onInput={setMatch} error={error('match')} />
      <SelectField label="When" value={span()} onChange={setSpan} choices={kSpans} error={span() === 'times' || span() === 'cron' ? undefined : error('until')} />
      <Show when={span() === 'times'}>
        <div class="settings-pair">
          <TextField label="From (empty: now)" type="datetime-local" value={from()} onInput={setFrom} error={error('from')} />
          <TextField label="Until" type="datetime-local" value={until()} onInput={setUntil} error={error('until')} />
        </div>
      </Show>
      <Show when={span() === 'cron'}>
        <div class="settings-pair">
          <TextField label="Begins (cron)" mono placeholder="0 2 * * *" value={cron()} onInput={setCron} error={error('cron')} />
          <TextField label="Lasts" placeholder="2h" value={duration()} onInput={setDuration} error={error('duration')} />
          <TextField label="Time zone" value={zone()} onInput={setZone} error={error('zone')} list={zones()} />
        </div>
      </Show>
      <div class="settings-pair">
        <TextField label="Owner" value={owner()} onInput={setOwner} error={error('owner')} />
        <Show when={props.silence === null}><TextField label="Name" mono value={name()} onInput={setName} error={error('name')} /></Show>
      </div>
      <TextField label="Reason" placeholder="new firmware" value={reason()} onInput={setReason} error={error('reason')} />
    </FormDialog>
  );
}

function zones(): readonly string[] {
  const list = (Intl as unknown as { supportedValuesOf?: (what: string) => string[] }).supportedValuesOf;
  return list ? list('timeZone') : ['UTC'];
}
