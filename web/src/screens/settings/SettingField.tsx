// One setting as a field, by its kind: what it is, where its value comes from, what is wrong with it, and the
// way back to the default.
import { createSignal, Match, Show, Switch } from 'solid-js';
import type { JSX } from 'solid-js';
import { Badge, Button, CheckField, NumberField, SelectField, TextAreaField, TextField } from '../../design';
import { Marked } from './Marked';
import { ScopeField } from './ScopeField';
import { kindOf, lockOf, nameOf, originText, sameValue, valueText } from './setting_kind';
import type { Setting, SettingValue } from './shapes';

export interface SettingFieldProps {
  name: string;
  setting: Setting;
  /** What is shown: the edit, or what is in force. */
  value: SettingValue;
  edited: boolean;
  /** Null: back to the default. */
  onChange: (value: SettingValue | null) => void;
  onUndo: () => void;
  error?: string | undefined;
  /** Why nobody may change it now, such as the role. */
  refused?: string | undefined;
}

export function SettingField(props: SettingFieldProps): JSX.Element {
  const kind = () => kindOf(props.setting.type, props.setting.default);
  const locked = () => lockOf(props.setting) ?? props.refused;
  const shared = () => ({ label: nameOf(props.name), help: <Marked text={props.setting.help} />, error: props.error, locked: locked() });
  return (
    <div class="settings-field" classList={{ edited: props.edited }}>
      <Switch>
        <Match when={kind().kind === 'boolean'}>
          <CheckField {...shared()} value={props.value === true} onChange={props.onChange} />
        </Match>
        <Match when={kind().kind === 'choice' && kind()}>
          {(one) => <SelectField {...shared()} value={String(props.value)} onChange={props.onChange} choices={(one() as { choices: string[] }).choices} />}
        </Match>
        <Match when={kind().kind === 'integer' || kind().kind === 'number'}>
          <NumberInput {...shared()} {...props} whole={kind().kind === 'integer'} />
        </Match>
        <Match when={kind().kind === 'scope'}>
          <ScopeField {...shared()} value={String(props.value)} onChange={props.onChange} />
        </Match>
        <Match when={kind().kind === 'list'}>
          <ListInput {...shared()} {...props} />
        </Match>
        <Match when={true}>
          <TextField {...shared()} mono={kind().kind !== 'duration'} value={String(props.value)} onInput={props.onChange} placeholder={kind().kind === 'duration' ? '30s, 5m, 1h' : ''} />
        </Match>
      </Switch>
      <div class="settings-origin">
        <Badge tone={props.setting.origin === 'environment' ? 'warn' : props.setting.origin === 'settings' ? 'info' : 'mute'} title={originTitle(props.setting)}>{originText(props.setting.origin)}</Badge>
        <span class="muted small">{range(props.setting)}</span>
        <Show when={props.edited}><Badge tone="info">edited, was {valueText(props.setting.value)}</Badge><Button dense kind="quiet" onClick={props.onUndo}>Undo</Button></Show>
        <Show when={!props.edited && props.setting.origin === 'settings' && locked() === undefined}>
          <Button dense kind="quiet" onClick={() => props.onChange(null)}>Back to the default</Button>
        </Show>
      </div>
    </div>
  );
}

/** What may be given, what the default is where another value holds, and when a change is in force. */
function range(setting: Setting): string {
  const kind = kindOf(setting.type, setting.default).kind;
  const bounds = kind === 'boolean' || kind === 'choice' || kind === 'scope' ? '' : setting.type.replace(/^an? /, '');
  const standard = setting.origin === 'default' || sameValue(setting.value, setting.default) ? '' : `default ${valueText(setting.default)}`;
  const applies = setting.applies === 'live' ? '' : setting.applies === 'restart' ? 'in force after a restart' : setting.applies;
  return [bounds, standard, applies].filter((one) => one !== '').join('; ');
}

function originTitle(setting: Setting): string {
  if (setting.origin === 'environment') return `From the variable ${setting.environment} of the server's environment`;
  if (setting.origin === 'settings') return 'Changed here, over the API, or in system.json';
  return 'Nobody set it';
}

interface Shared {
  label: string;
  help: JSX.Element;
  error: string | undefined;
  locked: string | undefined;
}

function NumberInput(props: Shared & SettingFieldProps & { whole: boolean }): JSX.Element {
  // What is typed need not be a number yet; the field says so, and the last number stays.
  const [wrong, setWrong] = createSignal<string | undefined>(undefined);
  return (
    <NumberField
      label={props.label}
      help={props.help}
      locked={props.locked}
      error={wrong() ?? props.error}
      value={typeof props.value === 'number' ? props.value : null}
      {...(props.whole ? { step: 1 } : {})}
      onInput={(value) => {
        if (value === null || Number.isNaN(value)) setWrong('A number is needed.');
        else {
          setWrong(undefined);
          props.onChange(value);
        }
      }}
    />
  );
}

function ListInput(props: Shared & SettingFieldProps): JSX.Element {
  const given = () => (Array.isArray(props.value) ? props.value : []);
  // The text as it is typed, so that a new line does not vanish under the cursor.
  const [text, setText] = createSignal(given().join('\n'));
  const items = (value: string) => value.split(/[\n,]/).map((one) => one.trim()).filter((one) => one !== '');
  const shown = () => (sameValue(items(text()), given()) ? text() : given().join('\n'));
  return (
    <TextAreaField
      label={`${props.label} (one per line)`}
      help={props.help}
      error={props.error}
      locked={props.locked}
      mono
      rows={Math.min(8, Math.max(2, given().length + 1))}
      value={shown()}
      onInput={(value) => {
        setText(value);
        props.onChange(items(value));
      }}
    />
  );
}
