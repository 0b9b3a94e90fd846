// Edits the spec of a target or a device: the usual fields as a form, all of it as a text. What is
// saved carries the version it was read with, so nobody's change is overwritten unseen.
import { createSignal, For, onMount, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { asProblem } from '../api/client';
import type { Problem } from '../api/client';
import type { AddonParameter } from '../api/model';
import { Button, Dialog, ErrorState, FormErrors, NumberField, SelectField, Skeleton, Tabs, TextAreaField, TextField, toast } from '../design';
import { credentialNames } from './CredentialDialog';
import type { Spec } from './model';
import {
  intervalOf, linesOf, namesOf, paramOf, parseSpec, showSpec, textOf, withBool, withInterval, withLines, withNames, withParents, withNumber, withParam, withText,
} from './spec_form';

export interface SpecEditorProps {
  title: string;
  /** What is edited, when that is not plain: shown above the fields. */
  note?: string | undefined;
  kind: 'target' | 'device';
  parameters?: readonly AddonParameter[] | undefined;
  load: () => Promise<{ spec: Spec; etag: string | null }>;
  save: (spec: Spec, etag: string | null, reason: string) => Promise<void>;
  onClose: () => void;
  onSaved: () => void;
}

const kInherit = { value: '', label: 'as inherited' };
const kTiers = [kInherit, 'low', 'normal', 'high', 'critical'];
const kYesNo = [kInherit, { value: 'true', label: 'yes' }, { value: 'false', label: 'no' }];
const kFailureAlerts = [kInherit, { value: 'first', label: 'with the first failure' }, { value: 'confirmed', label: 'when confirmed' }, { value: 'never', label: 'never' }];

export function SpecEditor(props: SpecEditorProps): JSX.Element {
  const [spec, setSpec] = createSignal<Spec | null>(null);
  const [text, setText] = createSignal('{}');
  const [etag, setEtag] = createSignal<string | null>(null);
  const [tab, setTab] = createSignal('form');
  const [reason, setReason] = createSignal('');
  const [busy, setBusy] = createSignal(false);
  const [failed, setFailed] = createSignal<Problem | null>(null);
  const [problem, setProblem] = createSignal<Problem | null>(null);
  const parsed = () => parseSpec(text());
  const load = () => {
    setFailed(null);
    setProblem(null);
    props
      .load()
      .then((found) => {
        setSpec(found.spec);
        setText(showSpec(found.spec));
        setEtag(found.etag);
      })
      .catch((error: unknown) => setFailed(asProblem(error)));
  };
  onMount(load);
  const change = (next: Spec) => {
    setSpec(next);
    setText(showSpec(next));
  };
  const typed = (next: string) => {
    setText(next);
    const read = parseSpec(next);
    if (read.spec) setSpec(read.spec);
  };
  const save = () => {
    const now = parsed();
    if (busy() || now.spec === undefined) return;
    setBusy(true);
    setProblem(null);
    props
      .save(now.spec, etag(), reason().trim())
      .then(() => {
        toast('ok', 'Saved and in force');
        props.onSaved();
        props.onClose();
      })
      .catch((error: unknown) => setProblem(asProblem(error)))
      .finally(() => setBusy(false));
  };
  const shown = () => (tab() === 'form' ? kPointers : []);
  return (
    <Dialog
      title={props.title}
      wide
      onClose={props.onClose}
      onSubmit={save}
      foot={
        <>
          <Button onClick={props.onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={busy()} disabledReason={parsed().error === undefined ? undefined : 'The text is no valid JSON yet.'}>Save</Button>
        </>
      }
    >
      <Show when={failed()}>{(one) => <ErrorState problem={one()} retry={load} />}</Show>
      <Show when={!failed()}>
        <Show when={spec()} fallback={<Skeleton lines={5} />}>
          {(now) => (
            <>
              <Show when={props.note}><p class="muted">{props.note}</p></Show>
              <Show when={problem()?.status === 412} fallback={<FormErrors problem={problem()} fields={shown()} />}>
                <div class="form-errors" role="alert">
                  <strong>Somebody changed it meanwhile; nothing of yours was saved.</strong>
                  <div class="row"><Button dense icon="refresh" onClick={load}>Load the newest and begin again</Button></div>
                </div>
              </Show>
              <Tabs
                label="How to edit"
                now={tab()}
                onChange={setTab}
                tabs={[
                  { id: 'form', title: 'Usual settings', content: () => <div class="stack spec-tab"><Form spec={now()} problem={problem()} change={change} {...props} /></div> },
                  {
                    id: 'text', title: 'All as JSON',
                    content: () => (
                      <div class="stack spec-tab">
                        <TextAreaField label="Spec" mono rows={16} value={text()} onInput={typed} error={parsed().error} help="The keys are those of the fleet files. What is not here is inherited from the device, its groups, the addon and the defaults." />
                      </div>
                    ),
                  },
                ]}
              />
              <TextField label="Reason (optional)" help="Kept in the audit trail." value={reason()} onInput={setReason} />
            </>
          )}
        </Show>
      </Show>
    </Dialog>
  );
}

const kPointers = [
  '/tier', '/interval', '/interval/min', '/interval/base', '/interval/max', '/staleness_bound', '/timeout', '/port', '/credentials', '/adaptive',
  '/failure_alert', '/address', '/labels', '/groups', '/parents', '/addons', '/region',
];

interface FormProps extends SpecEditorProps {
  spec: Spec;
  problem: Problem | null;
  change: (spec: Spec) => void;
}

function Form(props: FormProps): JSX.Element {
  const error = (key: string) => props.problem?.field(`/${key}`);
  const names = credentialNames();
  return (
    <>
      <Show when={props.kind === 'device'}><DeviceFields {...props} /></Show>
      <div class="field-pair">
        <SelectField label="Tier" choices={kTiers} value={textOf(props.spec, 'tier')} onChange={(value) => props.change(withText(props.spec, 'tier', value))} error={error('tier')} help="Who comes first when not everybody can." />
        <SelectField label="Adaptive" choices={kYesNo} value={textOf(props.spec, 'adaptive')} onChange={(value) => props.change(withBool(props.spec, 'adaptive', value))} error={error('adaptive')} help="No: the interval stays fixed." />
      </div>
      <div class="field-pair">
        <TextField label="Interval" placeholder="inherited" mono value={intervalOf(props.spec).base} onInput={(base) => props.change(withInterval(props.spec, { base }))} error={error('interval') ?? error('interval/base')} help="Such as 30s, 5m, 1h30m." />
        <TextField label="Shortest interval" placeholder="inherited" mono value={intervalOf(props.spec).min} onInput={(min) => props.change(withInterval(props.spec, { min }))} error={error('interval/min')} help="While adaptive." />
        <TextField label="Longest interval" placeholder="inherited" mono value={intervalOf(props.spec).max} onInput={(max) => props.change(withInterval(props.spec, { max }))} error={error('interval/max')} help="While adaptive." />
      </div>
      <div class="field-pair">
        <TextField label="Data may be this old" placeholder="inherited" mono value={textOf(props.spec, 'staleness_bound')} onInput={(value) => props.change(withText(props.spec, 'staleness_bound', value))} error={error('staleness_bound')} help="The staleness bound." />
        <TextField label="Timeout of a poll" placeholder="inherited" mono value={textOf(props.spec, 'timeout')} onInput={(value) => props.change(withText(props.spec, 'timeout', value))} error={error('timeout')} />
        <NumberField label="Port" min={1} max={65535} step={1} value={textOf(props.spec, 'port') === '' ? null : Number(textOf(props.spec, 'port'))} onInput={(value) => props.change(withNumber(props.spec, 'port', value))} error={error('port')} />
      </div>
      <div class="field-pair">
        <TextField label="Credentials" placeholder="inherited" value={textOf(props.spec, 'credentials')} onInput={(value) => props.change(withText(props.spec, 'credentials', value))} error={error('credentials')} help="The name of a credential of the fleet." list={names.data() ?? []} />
        <SelectField label="Alert of no answer" choices={kFailureAlerts} value={textOf(props.spec, 'failure_alert')} onChange={(value) => props.change(withText(props.spec, 'failure_alert', value))} error={error('failure_alert')} />
      </div>
      <Show when={(props.parameters ?? []).length > 0}>
        <h3>Parameters of the addon</h3>
        <div class="field-pair">
          <For each={props.parameters}>
            {(one) => (
              <TextField
                label={one.required ? `${one.name} (needed)` : one.name}
                mono
                placeholder={one.default === '' || one.default === undefined ? 'inherited' : one.default}
                value={paramOf(props.spec, one.name)}
                onInput={(value) => props.change(withParam(props.spec, one.name, value))}
                error={error(`params/${one.name}`)}
                help={one.help}
              />
            )}
          </For>
        </div>
      </Show>
    </>
  );
}

function DeviceFields(props: FormProps): JSX.Element {
  const error = (key: string) => props.problem?.field(`/${key}`);
  const [labels, setLabels] = createSignal(linesOf(props.spec, 'labels'));
  const [groups, setGroups] = createSignal(namesOf(props.spec, 'groups'));
  const [parents, setParents] = createSignal(namesOf(props.spec, 'parents'));
  const [addons, setAddons] = createSignal(namesOf(props.spec, 'addons'));
  return (
    <>
      <div class="field-pair">
        <TextField label="Address" mono value={textOf(props.spec, 'address')} onInput={(value) => props.change(withText(props.spec, 'address', value))} error={error('address')} help="A name or an address; several are `addresses` in the text." />
        <TextField label="Region" placeholder="inherited" value={textOf(props.spec, 'region')} onInput={(value) => props.change(withText(props.spec, 'region', value))} error={error('region')} />
      </div>
      <TextField label="Addons, parted by commas" value={addons()} onInput={(value) => (setAddons(value), props.change(withNames(props.spec, 'addons', value)))} error={error('addons')} help="What is polled on it. Settings of single addons stay; they are in the text." />
      <div class="field-pair">
        <TextField label="Groups, parted by commas" value={groups()} onInput={(value) => (setGroups(value), props.change(withNames(props.spec, 'groups', value)))} error={error('groups')} />
        <TextField label="Parents, parted by commas" value={parents()} onInput={(value) => (setParents(value), props.change(withParents(props.spec, value)))} error={error('parents')} help="What it stands behind; a | b: either is enough." />
      </div>
      <TextAreaField label="Labels, name=value, one per line" mono rows={3} value={labels()} onInput={(value) => (setLabels(value), props.change(withLines(props.spec, 'labels', value)))} error={error('labels')} />
    </>
  );
}
