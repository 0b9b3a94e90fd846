// The dialogs that bring devices in. They stand in the shell, so that they stay open when the screen
// below changes because of them: the first device ends the guide.
import { Match, Switch } from 'solid-js';
import type { JSX } from 'solid-js';
import { AddDevice } from './AddDevice';
import { Discover } from './Discover';
import { closeStart, startDialog } from '../../state/start';

export default function StartHost(): JSX.Element {
  return (
    <Switch>
      <Match when={startDialog() === 'add'}><AddDevice onClose={closeStart} /></Match>
      <Match when={startDialog() === 'discover'}><Discover onClose={closeStart} /></Match>
    </Switch>
  );
}
