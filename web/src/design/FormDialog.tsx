import type { JSX } from 'solid-js';
import { Button } from './Button';
import { Dialog } from './Dialog';
import type { IconName } from './Icon';

/** <FormDialog title="Add a user" action="Add" busy={form.busy()} onClose={close} onSubmit={save}>…</FormDialog>: with Cancel beside the act. */
export function FormDialog(props: {
  title: string;
  wide?: boolean;
  /** What the button says that submits. */
  action: JSX.Element;
  icon?: IconName;
  busy: boolean;
  disabled?: boolean;
  disabledReason?: string | undefined;
  onClose: () => void;
  onSubmit: () => void;
  children: JSX.Element;
}): JSX.Element {
  return (
    <Dialog
      title={props.title}
      wide={props.wide === true}
      onClose={() => props.onClose()}
      onSubmit={() => props.onSubmit()}
      foot={
        <>
          <Button onClick={() => props.onClose()}>Cancel</Button>
          <Button kind="primary" type="submit" {...(props.icon ? { icon: props.icon } : {})} busy={props.busy} disabled={props.disabled === true} disabledReason={props.disabledReason}>{props.action}</Button>
        </>
      }
    >
      {props.children}
    </Dialog>
  );
}
