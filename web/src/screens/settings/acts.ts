// What is done with an object of a list: asked first, told afterwards, and the list fetched anew; or stored from a form.
import { api, path } from '../../api/client';
import { confirm, toast, toastProblem } from '../../design';
import type { FormState } from '../../design/useForm';
import type { Question } from '../../design/Dialog';

/** Asks, acts (with the reason that was given) and says what came of it. */
export async function askAndDo<T>(question: Question, act: (reason: string) => Promise<T>, told: { done: (answer: T) => string; failed: string }, then: () => unknown): Promise<void> {
  const yes = await confirm(question);
  if (yes === null) return;
  try {
    toast('ok', told.done(await act(yes.reason)));
    void then();
  } catch (error) {
    toastProblem(error, told.failed);
  }
}

interface Stored {
  name: string;
  version: number;
}

/** Adds an object (`known` is null), or changes the version of it that was read: nobody's change is overwritten unseen. */
export function store(list: 'receivers' | 'routes' | 'silences' | 'users' | 'groups' | 'sources', known: Stored | null, name: string, body: object): Promise<unknown> {
  if (known === null) return api.post(`api/${list}`, { name, ...body });
  return api.put(`api/${list}/${path`${known.name}`}`, body, { ifMatch: `"v${known.version}"` });
}

/** Runs what a form saves; if it went well, says so and goes on. */
export async function saveForm(form: FormState, save: () => Promise<unknown>, done: () => readonly [text: string, detail?: string], then: () => void): Promise<void> {
  if (!(await form.run(save))) return;
  toast('ok', ...done());
  then();
}
