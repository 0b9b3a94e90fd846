// Who owns an object of the fleet, and what that means for editing it here.
import { Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { api, path } from '../api/client';
import { Button, confirm, Icon, toast, toastProblem } from '../design';
import { whyNot } from '../state/session';
import type { FleetObject } from './model';

/** Asks, then takes a device over from the files. */
export async function adoptDevice(name: string): Promise<boolean> {
  const yes = await confirm({
    title: `Adopt ${name}?`,
    text: 'From now on this device is edited here. Take it out of the fleet files then: as long as they name it too, applying them is refused, and so is a start of the server with them.',
    action: 'Adopt',
    reason: 'optional',
  });
  if (yes === null) return false;
  try {
    await api.post(path`api/devices/${name}/adopt`, yes.reason === '' ? {} : { reason: yes.reason });
    toast('ok', `${name} is edited here from now on`, 'Take it out of the fleet files, so that they can still be applied.');
    return true;
  } catch (error) {
    toastProblem(error, `${name} could not be adopted`);
    return false;
  }
}

export function whyNotEdit(origin: string): string | undefined {
  if (origin === 'api') return whyNot('manage');
  return origin === 'file' ? 'It comes from fleet files: change it there, or adopt its device first.' : 'It was found by discovery: adopt its device first.';
}

export function OriginNote(props: { device: FleetObject | undefined; adopted: () => void }): JSX.Element {
  return (
    <Show when={props.device && props.device.origin !== 'api'}>
      <div class="note-box tone-info">
        <Icon name="lock" />
        <div class="what">
          <Show when={props.device?.origin === 'file'} fallback={<><strong>Found by discovery.</strong> A source that is listed in the fleet keeps it up to date; edits here would be lost, so they are refused.</>}>
            <strong>Comes from fleet files.</strong> It is changed there and applied with <code>pollux apply</code> (or at the next start with <code>--fleet</code>); edits here are refused, so that two places never fight.
          </Show>
        </div>
        <Button dense disabledReason={whyNot('manage')} onClick={() => void adoptDevice(props.device?.name ?? '').then((ok) => ok && props.adopted())}>Adopt it, to edit it here</Button>
      </div>
    </Show>
  );
}
