// A new installation sends nothing until somebody looked at what it would send. That is easy to
// forget, so it is said wherever alerts are shown, with the switch.
import { createSignal, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api } from '../api/client';
import { Button, confirm, Icon, toast, toastProblem } from '../design';
import { whyNot } from '../state/session';
import type { AlertStats } from './model';

export function ReviewNote(props: { stats: AlertStats | undefined; onChange: () => void }): JSX.Element {
  const [busy, setBusy] = createSignal(false);
  const begin = async () => {
    const yes = await confirm({
      title: 'Begin to send messages?',
      text: 'From now on alerts are sent to the receivers that the routes name. What is open at this moment is told; what is over is not.',
      action: 'Send from now on',
      reason: 'optional',
    });
    if (yes === null) return;
    setBusy(true);
    try {
      await api.put('api/settings', { alerts_review: false, ...(yes.reason === '' ? {} : { reason: yes.reason }) });
      toast('ok', 'Messages are sent from now on');
      props.onChange();
    } catch (error) {
      toastProblem(error, 'The review could not be ended');
    } finally {
      setBusy(false);
    }
  };
  return (
    <Show when={props.stats?.review}>
      <div class="note-box tone-warn" role="status">
        <Icon name="warning" />
        <div class="what">
          <strong>Nobody is told yet.</strong> Alerts are under review: they are raised and shown, and what would be sent is only recorded, as held in the log of deliveries. Tests are sent.
          When you like what you see, switch it on here or with <code>pollux settings set alerts_review=false</code>.
        </div>
        <Button dense busy={busy()} disabledReason={whyNot('manage')} onClick={() => void begin()}>Begin to send messages</Button>
      </div>
    </Show>
  );
}
