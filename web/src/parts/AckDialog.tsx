// "Somebody has it": with a note, for a time or until it is over, ending or not when it becomes worse.
import { createSignal } from 'solid-js';
import type { JSX } from 'solid-js';
import { CheckField, FormDialog, FormErrors, SelectField, TextAreaField, useForm } from '../design';

export interface AckBody {
  note?: string;
  for?: string;
  sticky?: boolean;
}

const kLengths = [
  { value: '', label: 'Until it is over' },
  { value: '1h', label: 'For an hour' },
  { value: '4h', label: 'For 4 hours' },
  { value: '8h', label: 'For 8 hours' },
  { value: '1d', label: 'For a day' },
  { value: '7d', label: 'For a week' },
];

export function AckDialog(props: { title: string; text?: string; act: (body: AckBody) => Promise<void>; onClose: () => void }): JSX.Element {
  const [note, setNote] = createSignal('');
  const [length, setLength] = createSignal('');
  const [sticky, setSticky] = createSignal(true);
  const form = useForm();
  const problem = form.problem;
  const go = () => {
    const body: AckBody = { sticky: sticky() };
    if (note().trim() !== '') body.note = note().trim();
    if (length() !== '') body.for = length();
    void form.run(() => props.act(body)).then((done) => done && props.onClose());
  };
  return (
    <FormDialog title={props.title} action="Acknowledge" busy={form.busy()} onClose={props.onClose} onSubmit={go}>
      <p class="muted">{props.text ?? 'Reminders and escalation stop. The recovery is still told.'}</p>
      <FormErrors problem={problem()} fields={['/note', '/for']} />
      <TextAreaField label="Note (optional)" rows={2} value={note()} onInput={setNote} placeholder="on my way" help="Shown with the alert, and kept in the audit trail." error={problem()?.field('/note')} />
      <SelectField label="How long" value={length()} onChange={setLength} choices={kLengths} error={problem()?.field('/for')} />
      <CheckField
        label="Hold also when it becomes worse"
        value={sticky()}
        onChange={setSticky}
        help="Without it the acknowledgement ends by itself when the severity rises."
      />
    </FormDialog>
  );
}
