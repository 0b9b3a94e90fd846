// How people are told: receivers, routes, and what was sent.
import { createSignal, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { allItems, api } from '../../api/client';
import { Button, confirm, Icon, toast, toastProblem } from '../../design';
import { whyNot } from '../../state/session';
import { polled } from '../../state/polled';
import { Deliveries } from './Deliveries';
import { Receivers } from './Receivers';
import type { Receiver } from './Receivers';
import { Routes } from './Routes';
import type { Route } from './Routes';
import type { ChannelHealth } from './shapes';

export function Notifications(): JSX.Element {
  const receivers = polled((signal) => allItems<Receiver>('api/receivers', {}, 5000, signal), { every: 60_000 });
  const routes = polled((signal) => allItems<Route>('api/routes', {}, 5000, signal), { every: 60_000 });
  const channels = polled(async (signal) => (await api.get<{ items: ChannelHealth[] }>('api/channels', { signal })).items, { every: 10_000 });
  const [seen, setSeen] = createSignal(0);
  const names = () => receivers.data()?.map((one) => one.name) ?? [];
  return (
    <div class="stack">
      <Review />
      <Receivers receivers={receivers} channels={channels} onTested={() => (setSeen((before) => before + 1), void channels.refresh())} />
      <Routes routes={routes} receivers={names()} />
      <Deliveries receivers={names()} seen={seen()} />
    </div>
  );
}

/** A new installation tells nobody until somebody has looked at what it would tell. */
function Review(): JSX.Element {
  const stats = polled((signal) => api.get<{ review: boolean }>('api/alerts/stats', { signal }), { every: 30_000 });
  const go = async () => {
    const yes = await confirm({
      title: 'Begin to send messages?',
      text: 'What is open now is told at once; what is over is not. The log of deliveries shows what was held until now.',
      action: 'Begin',
      reason: 'optional',
    });
    if (yes === null) return;
    try {
      await api.put('api/settings', { alerts_review: false, ...(yes.reason === '' ? {} : { reason: yes.reason }) });
      toast('ok', 'Messages are sent from now on.');
      void stats.refresh();
    } catch (error) {
      toastProblem(error, 'The review could not be ended');
    }
  };
  return (
    <Show when={stats.data()?.review}>
      <div class="settings-banner tone-warn" role="note">
        <Icon name="silence" />
        <span><strong>Under review: nothing is sent yet.</strong> Alerts are raised and shown; what would have been sent is in the log below as held. Tests are sent.</span>
        <span class="spring" />
        <Button disabledReason={whyNot('manage')} onClick={() => void go()}>Begin to send</Button>
      </div>
    </Show>
  );
}
