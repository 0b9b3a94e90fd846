// What people do with addons. Each asks where it must, and says what came of it.
import { api, path } from '../../api/client';
import { confirm, toast, toastProblem } from '../../design';
import { plural } from '../../logic/format';
import { fleet } from '../../state/fleet';
import type { AddonRow } from './model';

/** The addon as it is then; nothing: it was not switched. */
export async function switchAddon(addon: AddonRow): Promise<AddonRow | null> {
  const verb = addon.enabled ? 'disable' : 'enable';
  const targets = plural(addon.targets, 'target');
  const answer = await confirm({
    title: addon.enabled ? `Disable ${addon.name}?` : `Enable ${addon.name}?`,
    text: addon.enabled
      ? `Its ${targets} will not be polled and hear nothing until it is enabled again. Nothing is lost.`
      : `Its ${targets} will be polled again, also those that somebody had disabled one by one.`,
    action: addon.enabled ? 'Disable' : 'Enable',
    danger: addon.enabled,
    reason: 'optional',
  });
  if (answer === null) return null;
  try {
    const now = await api.post<AddonRow>(path`api/addons/${addon.name}/${verb}`, answer.reason === '' ? {} : { reason: answer.reason });
    toast('ok', `${addon.name} is ${addon.enabled ? 'disabled' : 'enabled'}`);
    void fleet.refresh();
    return now;
  } catch (error) {
    toastProblem(error, `${addon.name} could not be ${addon.enabled ? 'disabled' : 'enabled'}`);
    return null;
  }
}

/** Takes the stored manifest away; tells whether it did. */
export async function removeAddon(addon: AddonRow): Promise<boolean> {
  const answer = await confirm({
    title: `Remove ${addon.name}?`,
    text: 'The manifest that is stored here is taken away. If one of this name came with the server, that is in force again.',
    action: 'Remove',
    danger: true,
    reason: 'optional',
  });
  if (answer === null) return false;
  try {
    const options = answer.reason === '' ? {} : { body: { reason: answer.reason } };
    await api.full('DELETE', path`api/addons/${addon.name}`, { ...options, ifMatch: `"v${addon.revision}"` });
    toast('ok', `${addon.name} is removed`);
    void fleet.refresh();
    return true;
  } catch (error) {
    toastProblem(error, `${addon.name} could not be removed`);
    return false;
  }
}
