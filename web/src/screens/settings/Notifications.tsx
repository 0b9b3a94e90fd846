// How people are told: receivers, routes, and what was sent.
import { createSignal } from 'solid-js';
import type { JSX } from 'solid-js';
import { allItems, api } from '../../api/client';
import type { AlertStats } from '../../parts/model';
import { ReviewNote } from '../../parts/ReviewNote';
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
  const stats = polled((signal) => api.get<AlertStats>('api/alerts/stats', { signal }), { every: 30_000 });
  const [seen, setSeen] = createSignal(0);
  const names = () => receivers.data()?.map((one) => one.name) ?? [];
  return (
    <div class="stack">
      <ReviewNote stats={stats.data()} onChange={() => void stats.refresh()} />
      <Receivers receivers={receivers} channels={channels} onTested={() => (setSeen((before) => before + 1), void channels.refresh())} />
      <Routes routes={routes} receivers={names()} />
      <Deliveries receivers={names()} seen={seen()} />
    </div>
  );
}
