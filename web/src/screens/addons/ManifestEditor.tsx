// The editor of a manifest: what is wrong with it while one types (the server says), help for where the
// cursor is, and a trial with captured replies beside it.
import { createEffect, createMemo, createSignal, For, on, onCleanup, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, asProblem, isAbort, path } from '../../api/client';
import type { Problem } from '../../api/client';
import { Button, CodeEditor, FormErrors, Loaded, Tabs, TextField, toast } from '../../design';
import type { CodeProblem } from '../../design';
import { fetched } from '../../parts/fetched';
import { fleet } from '../../state/fleet';
import { whyNot } from '../../state/session';
import { mistakesOf } from './model';
import type { AddonDetail } from './model';
import { parts, placeOf, readReference, sectionFor } from './reference';
import type { HelpSection } from './reference';
import { Trial } from './Trial';
import '../../design/plain_table.css';
import './addons.css';

const kCheckAfter = 700;

interface Checked {
  text: string;
  problem: Problem | null;
}

export default function ManifestEditor(props: {
  /** Null: a new one. */
  name: string | null;
  manifest: string;
  onSaved: (name: string) => void;
}): JSX.Element {
  const [text, setText] = createSignal(props.manifest);
  const [line, setLine] = createSignal(1);
  const [side, setSide] = createSignal('try');
  const [checked, setChecked] = createSignal<Checked | null>(null);
  const [checking, setChecking] = createSignal(false);
  const [reason, setReason] = createSignal('');
  const [busy, setBusy] = createSignal(false);
  const [failed, setFailed] = createSignal<Problem | null>(null);
  // Stored meanwhile: what nobody has edited here follows it.
  let base = props.manifest;
  createEffect(on(() => props.manifest, (next) => {
    if (text() === base) setText(next);
    base = next;
  }));
  const changed = () => text() !== props.manifest;

  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: AbortController | null = null;
  const check = async () => {
    clearTimeout(timer);
    running?.abort();
    running = new AbortController();
    const sent = text();
    setChecking(true);
    try {
      await store(props.name, sent, '', true, running.signal);
      setChecked({ text: sent, problem: null });
      setChecking(false);
    } catch (error) {
      if (isAbort(error)) return;
      setChecked({ text: sent, problem: asProblem(error) });
      setChecking(false);
    }
  };
  createEffect(on(text, () => {
    clearTimeout(timer);
    timer = setTimeout(() => void check(), kCheckAfter);
  }));
  onCleanup(() => {
    clearTimeout(timer);
    running?.abort();
  });

  const valid = () => checked()?.text === text() && checked()?.problem === null;
  // Mistakes stay while one types, until the next check: they would flicker otherwise.
  const mistakes = createMemo<CodeProblem[]>(() => {
    const found = checked();
    if (found === null || found.problem === null) return [];
    const told = mistakesOf(found.problem.errors, found.text);
    return told.length > 0 ? told : [{ line: null, text: found.problem.message }];
  });
  const save = async () => {
    if (busy()) return;
    setBusy(true);
    setFailed(null);
    const sent = text();
    try {
      const addon = await store(props.name, sent, reason().trim(), false);
      toast('ok', props.name === null ? `${addon.name} is stored: it can be used at once` : `${addon.name} ${addon.version} is in force`);
      setReason('');
      void fleet.refresh();
      props.onSaved(addon.name);
    } catch (error) {
      const problem = asProblem(error);
      setFailed(problem);
      if (problem.errors.length > 0) setChecked({ text: sent, problem });
    } finally {
      setBusy(false);
    }
  };
  const words = () => {
    if (checked()?.text !== text()) return checking() || checked() !== null ? 'Checking…' : '';
    if (mistakes().length > 0) return '';
    return 'No mistakes.';
  };
  return (
    <div class="addons-editor">
      <section class="panel panel-body stack" aria-label="Manifest">
        <CodeEditor
          label="Manifest, as YAML or JSON"
          value={text()}
          onInput={setText}
          problems={mistakes()}
          rows={30}
          onLine={setLine}
          onCheck={() => void check()}
          help="Checked while you type, together with every target that uses it."
        />
        <Show when={failed()}>{(problem) => <Show when={problem().errors.length === 0}><FormErrors problem={problem()} /></Show>}</Show>
        <div class="addons-save">
          <TextField label="Reason (optional)" value={reason()} onInput={setReason} help="Kept in the audit trail." />
          <div class="row">
            <Button kind="primary" busy={busy()} disabled={!valid() || (props.name !== null && !changed())} disabledReason={whyNot('manage')} onClick={() => void save()}>
              {props.name === null ? 'Store the addon' : 'Put it in force'}
            </Button>
            <Show when={changed()}><Button kind="quiet" onClick={() => setText(props.manifest)}>Undo all changes</Button></Show>
            <span class="addons-good" role="status">{words()}</span>
          </div>
        </div>
      </section>
      <aside class="addons-side">
        <Tabs
          label="Beside the manifest"
          now={side()}
          onChange={setSide}
          tabs={[
            { id: 'try', title: 'Try it', content: () => <Trial name={props.name} manifest={text()} /> },
            { id: 'help', title: 'Help', content: () => <Help manifest={text()} line={line()} /> },
          ]}
        />
      </aside>
    </div>
  );
}

async function store(name: string | null, manifest: string, reason: string, dry: boolean, signal?: AbortSignal): Promise<AddonDetail> {
  const body = { manifest, ...(reason === '' ? {} : { reason }) };
  const query = dry ? { dry_run: true } : {};
  const options = { query, ...(signal ? { signal } : {}) };
  if (name === null) return api.post<AddonDetail>('api/addons', body, options);
  const now = await api.full<AddonDetail>('GET', path`api/addons/${name}`, signal ? { signal } : {});
  return api.put<AddonDetail>(path`api/addons/${name}`, body, { ...options, ...(now.etag === null ? {} : { ifMatch: now.etag }) });
}

const loadReference = async (): Promise<HelpSection[]> => readReference((await import('../../../../docs/manifest-reference.md?raw')).default);

function Help(props: { manifest: string; line: number }): JSX.Element {
  const sections = fetched(() => 'reference', loadReference);
  const place = createMemo(() => placeOf(props.manifest, props.line));
  const [chosen, setChosen] = createSignal<string | null>(null);
  createEffect(on(() => place().section, () => setChosen(null), { defer: true }));
  const section = createMemo(() => {
    const all = sections.data() ?? [];
    return all.find((one) => one.title === chosen()) ?? sectionFor(all, place().section);
  });
  return (
    <Loaded data={sections.data()} problem={sections.problem()} retry={sections.refetch} lines={6}>
      {(all) => (
        <div class="panel addons-help">
          <div class="panel-head">
            <label class="small muted" for="addons-section">Section</label>
            <select id="addons-section" class="input" value={section()?.title ?? ''} onChange={(event) => setChosen(event.currentTarget.value)}>
              <For each={all()}>{(one) => <option value={one.title} selected={one.title === section()?.title}>{one.title}</option>}</For>
            </select>
          </div>
          <div class="panel-body">
            <dl>
              <For each={section()?.rows ?? []}>
                {(row) => (
                  <div classList={{ here: place().key !== '' && row.keys.includes(place().key) }}>
                    <dt><Marked text={row.label} /></dt>
                    <dd><Marked text={row.meaning} /></dd>
                  </div>
                )}
              </For>
            </dl>
            <For each={section()?.notes ?? []}>{(note) => <p class="small"><Marked text={note} /></p>}</For>
          </div>
        </div>
      )}
    </Loaded>
  );
}

function Marked(props: { text: string }): JSX.Element {
  // Links of the documentation lead nowhere here; their words stay.
  const plain = () => props.text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return <For each={parts(plain())}>{(part) => (part.code ? <code>{part.text}</code> : <>{part.text}</>)}</For>;
}
