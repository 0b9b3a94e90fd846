// What an edit would do, before it is stored: the load and the age of the data, now and then.
import { createEffect, createSignal, For, on, onCleanup, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, asProblem, isAbort } from '../../api/client';
import type { Problem } from '../../api/client';
import { Icon } from '../../design';
import { compact, duration, plural } from '../../logic/format';
import { may } from '../../state/session';
import { changeWords } from './setting_kind';
import type { Draft } from './setting_kind';
import type { Outlook, Preview } from './shapes';

const kDebounce = 350;

export interface LivePreview {
  latest: () => Preview | null;
  /** What is in force, as it was told last. */
  present: () => Outlook | null;
  problem: () => Problem | null;
  busy: () => boolean;
  /** What is wrong with one field of the draft. */
  error: (key: string) => string | undefined;
}

/** Asks the server what the draft would do, a moment after the last edit. */
export function livePreview(draft: () => Draft, version: () => number | undefined): LivePreview {
  const [latest, setLatest] = createSignal<Preview | null>(null);
  const [present, setPresent] = createSignal<Outlook | null>(null);
  const [problem, setProblem] = createSignal<Problem | null>(null);
  const [busy, setBusy] = createSignal(false);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let flight: AbortController | null = null;
  const ask = async () => {
    flight?.abort();
    const mine = new AbortController();
    flight = mine;
    setBusy(true);
    try {
      const found = await api.post<Preview>('api/settings/monitoring/preview', draft(), { signal: mine.signal });
      if (flight !== mine) return;
      setLatest(found);
      if (found.now !== null) setPresent(found.now);
      setProblem(null);
    } catch (error) {
      if (flight !== mine || isAbort(error)) return;
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  createEffect(
    on([draft, version], () => {
      clearTimeout(timer);
      if (may('manage')) timer = setTimeout(() => void ask(), kDebounce);
    }),
  );
  onCleanup(() => {
    clearTimeout(timer);
    flight?.abort();
  });
  const error = (key: string) => (key in draft() ? latest()?.errors.find((one) => one.pointer === `/${key}`)?.detail : undefined);
  return { latest, present, problem, busy, error };
}

interface Line {
  title: string;
  pick: keyof Outlook;
  show: (value: number) => string;
}

const show = (line: Line, outlook: Outlook | null) => (outlook === null ? '–' : line.show(outlook[line.pick]));
const change = (line: Line, before: Outlook | null, after: Outlook | null) => (before === null || after === null ? '' : changeWords(before[line.pick], after[line.pick]));

const kLines: readonly Line[] = [
  { title: 'Polls per second', pick: 'polls_per_second', show: (value) => `${compact(value)}/s` },
  { title: 'Mean interval', pick: 'mean_interval', show: duration },
  { title: 'Longest interval', pick: 'longest_interval', show: duration },
  { title: 'Mean age of the data', pick: 'mean_age', show: duration },
];

export function PreviewPanel(props: { preview: LivePreview; edited: boolean }): JSX.Element {
  return (
    <section class="settings-preview" aria-label="Preview" aria-live="polite" aria-busy={props.preview.busy()}>
      <h3>{props.edited ? 'What this would do' : 'What is in force does'}</h3>
      <Show when={props.preview.problem()}>{(problem) => <p class="muted small">There is no preview: {problem().message}</p>}</Show>
      <Show when={props.preview.latest()} fallback={<Show when={props.preview.problem() === null}><p class="muted small">{may('manage') ? 'Being reckoned …' : 'The preview is for those who may change the settings.'}</p></Show>}>
        {(now) => (
          <>
            <table class="settings-outlook" classList={{ old: props.preview.busy() || props.preview.problem() !== null }}>
              <thead><tr><th scope="col"><span class="seen-by-readers">Measure</span></th><th scope="col">now</th><Show when={props.edited}><th scope="col">then</th></Show></tr></thead>
              <tbody>
                <For each={kLines}>
                  {(line) => (
                    <tr>
                      <th scope="row">{line.title}</th>
                      <td>{show(line, props.preview.present())}</td>
                      <Show when={props.edited}>
                        <td><strong>{show(line, now().then)}</strong> <span class="muted small">{change(line, props.preview.present(), now().then)}</span></td>
                      </Show>
                    </tr>
                  )}
                </For>
              </tbody>
            </table>
            <Show when={props.edited}>
              <Show when={now().valid} fallback={<p class="settings-wrong small"><Icon name="warning" size={13} /> It cannot be stored like this: {now().errors.map((one) => one.detail).join('; ')}</p>}>
                <p class="small">{now().targets_changed === 0 ? 'No target gets another interval.' : `${plural(now().targets_changed, 'target')} would get another interval.`}</p>
              </Show>
            </Show>
          </>
        )}
      </Show>
    </section>
  );
}
