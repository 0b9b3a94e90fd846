// An act of a form: busy while it runs, and the problem of the last attempt.
import { createSignal } from 'solid-js';
import { asProblem } from '../api/problem';
import type { Problem } from '../api/problem';

export interface FormState {
  problem: () => Problem | null;
  busy: () => boolean;
  /** True when it was done. */
  run: (act: () => Promise<unknown>) => Promise<boolean>;
}

export function useForm(): FormState {
  const [problem, setProblem] = createSignal<Problem | null>(null);
  const [busy, setBusy] = createSignal(false);
  const run = async (act: () => Promise<unknown>) => {
    if (busy()) return false;
    setBusy(true);
    setProblem(null);
    try {
      await act();
      return true;
    } catch (error) {
      setProblem(asProblem(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { problem, busy, run };
}
