// Where the settings of a target come from, what they are, and how they are edited. A target of a
// fleet file whose device was adopted is edited by the entry of its addon in that device.
import { Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { href } from '../../app/router';
import { api, asProblem, path, Problem } from '../../api/client';
import type { AddonParameter } from '../../api/model';
import { Badge, Button, Time } from '../../design';
import type { FleetObject, TargetObject } from '../../parts/model';
import { OriginNote } from '../../parts/OriginNote';
import { SpecEditor } from '../../parts/SpecEditor';
import { addonEntry, showSpec, withAddonEntry } from '../../parts/spec_form';
import { fleet } from '../../state/fleet';
import type { AddonPage } from './TargetScreen';

const reasoned = (spec: Record<string, unknown>, reason: string) => (reason === '' ? spec : { ...spec, reason });

/** Mistakes are told with their place in the device; the form shows the entry alone. */
function insideEntry(problem: Problem): Problem {
  const errors = problem.errors.map((one) => (one.pointer === undefined ? one : { ...one, pointer: one.pointer.replace(/^\/addons\/\d+/, '') }));
  return new Problem({ ...problem, detail: problem.message, errors });
}

export function TargetEditor(props: {
  target: TargetObject;
  device: FleetObject | undefined;
  parameters: readonly AddonParameter[] | undefined;
  onClose: () => void;
  onSaved: () => void;
}): JSX.Element {
  const own = props.target.origin === 'api';
  const { key, addon, device } = props.target;
  const url = own ? path`api/targets/${key}` : path`api/devices/${device}`;
  const load = async () => {
    const { data, etag } = await api.full<FleetObject>('GET', url, {});
    return { spec: own ? data.spec : addonEntry(data.spec, addon), etag };
  };
  const save = async (spec: Record<string, unknown>, etag: string | null, reason: string) => {
    const version = etag === null ? {} : { ifMatch: etag };
    if (own) await api.put(url, reasoned(spec, reason), version);
    else {
      const { data } = await api.full<FleetObject>('GET', url, {});
      const whole = withAddonEntry(data.spec, addon, spec);
      await api.put(url, reasoned(whole, reason), version).catch((error: unknown) => {
        throw insideEntry(asProblem(error));
      });
    }
    void fleet.refresh();
  };
  return (
    <SpecEditor
      title={`Settings of ${key}`}
      note={own ? undefined : `These are the settings of ${addon} on the adopted device ${device}; they are saved there.`}
      kind="target"
      parameters={props.parameters}
      load={load}
      save={save}
      onClose={props.onClose}
      onSaved={props.onSaved}
    />
  );
}

export function TargetSettings(props: {
  target: TargetObject;
  device: FleetObject | undefined;
  addon: AddonPage | undefined;
  editable: string | undefined;
  edit: () => void;
  changed: () => void;
}): JSX.Element {
  const spec = () => (props.target.origin !== 'api' && props.device ? addonEntry(props.device.spec, props.target.addon) : props.target.spec);
  const bare = () => Object.keys(spec()).length === 0;
  return (
    <div class="target-tab stack">
      <Show when={props.target.origin !== 'api'}><OriginNote device={props.device} adopted={props.changed} /></Show>
      <section class="panel" aria-label="Settings">
        <div class="panel-head">
          <h2>Settings of its own</h2><Badge tone={props.target.origin === 'api' ? 'info' : 'mute'}>{props.target.origin}</Badge><span class="spring" />
          <Button dense icon="edit" disabledReason={props.editable} onClick={props.edit}>Edit</Button>
        </div>
        <div class="panel-body stack">
          <Show when={!bare()} fallback={<p class="muted">None: everything is inherited from the device, its groups, the addon and the defaults.</p>}>
            <pre class="object-spec mono">{showSpec(spec())}</pre>
          </Show>
          <dl class="facts">
            <dt>Addon</dt><dd>{props.addon?.title ?? props.target.addon} (<code>{props.target.addon}</code>{props.addon ? `, ${props.addon.protocol}` : ''})</dd>
            <dt>Device</dt><dd><a href={href('/devices/:name', { name: props.target.device })}>{props.target.device}</a></dd>
            <dt>Version</dt><dd>{props.target.version}, changed <Time at={props.target.changed_at} relative /></dd>
            <dt>Id</dt><dd><code>{props.target.id}</code></dd>
          </dl>
        </div>
      </section>
    </div>
  );
}
