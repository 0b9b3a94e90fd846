// A part of the settings as it was read, with the tag that a change must show so that nobody's change is lost.
import { createSignal } from 'solid-js';
import { api, asProblem } from '../../api/client';
import type { Problem } from '../../api/client';
import { polled } from '../../state/polled';
import type { Polled } from '../../state/polled';
import type { Draft } from './setting_kind';
import type { SettingsPage } from './shapes';

export interface SettingsStore {
  page: Polled<SettingsPage>;
  busy: () => boolean;
  problem: () => Problem | null;
  clearProblem: () => void;
  /** The version before and after, or nothing when it was refused: `problem` says why. */
  save: (draft: Draft, reason: string) => Promise<{ before: number; after: number } | null>;
}

export function settingsStore(url: string, every: () => number | undefined): SettingsStore {
  let etag: string | null = null;
  const page = polled(
    async (signal) => {
      const answer = await api.full<SettingsPage>('GET', url, { signal });
      etag = answer.etag;
      return answer.data;
    },
    { every },
  );
  const [busy, setBusy] = createSignal(false);
  const [problem, setProblem] = createSignal<Problem | null>(null);
  const save = async (draft: Draft, reason: string) => {
    if (busy()) return null;
    setBusy(true);
    setProblem(null);
    const before = page.data()?.version ?? 0;
    try {
      const answer = await api.full<SettingsPage>('PUT', url, { body: { ...draft, ...(reason === '' ? {} : { reason }) }, ...(etag === null ? {} : { ifMatch: etag }) });
      etag = answer.etag;
      page.set(answer.data);
      return { before, after: answer.data.version };
    } catch (error) {
      const found = asProblem(error);
      setProblem(found);
      // Somebody was faster: what is in force is read anew, what was edited stays.
      if (found.status === 412) void page.refresh();
      return null;
    } finally {
      setBusy(false);
    }
  };
  return { page, busy, problem, clearProblem: () => setProblem(null), save };
}
