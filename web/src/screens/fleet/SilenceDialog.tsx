import { createSignal } from 'solid-js';
import type { JSX } from 'solid-js';
import { api } from '../../api/client';
import { FormDialog, FormErrors, SelectField, TextField, toast, useForm } from '../../design';
import { serverNow } from '../../logic/clock';
import { plural } from '../../logic/format';
import { kSilenceLengths, kUsualLength, silenceBody } from '../../parts/silence';
import { me } from '../../state/session';
import { matchersFor } from './acts';

export const kMostSilenced = 100;

const kFields = ['/until', '/reason', '/name', '/match'];

export function SilenceDialog(props: { keys: readonly string[]; onClose: (done: boolean) => void }): JSX.Element {
  const [span, setSpan] = createSignal<string>(kUsualLength);
  const [reason, setReason] = createSignal('');
  const [tried, setTried] = createSignal(false);
  const form = useForm();
  const problem = form.problem;
  const save = () => {
    setTried(true);
    if (reason().trim() === '') return;
    void form.run(async () => {
      const now = serverNow();
      const wish = { matchers: matchersFor(props.keys), length: Number(span()), owner: me()?.name ?? '', reason: reason().trim() };
      const name = `${me()?.name ?? 'silence'}-${new Date(now).toISOString().slice(0, 19).replaceAll(':', '-')}`;
      await api.post('api/silences', silenceBody(wish, name, now));
      toast('ok', `${plural(props.keys.length, 'target')} silenced`);
      props.onClose(true);
    });
  };
  return (
    <FormDialog title={`Silence ${plural(props.keys.length, 'target')}`} action="Silence" busy={form.busy()} onClose={() => props.onClose(false)} onSubmit={save}>
      <p class="muted">They go on being polled and shown; nobody is told of their alerts until the silence ends.</p>
      <FormErrors problem={problem()} fields={kFields} />
      <SelectField label="For" value={span()} onChange={setSpan} choices={kSilenceLengths} error={problem()?.field('/until')} />
      <TextField
        label="Reason"
        value={reason()}
        onInput={setReason}
        autofocus
        error={tried() && reason().trim() === '' ? 'A reason is needed.' : problem()?.field('/reason')}
        help="Shown with the silence."
      />
    </FormDialog>
  );
}
