// Dialogs are the browser's own: they hold the focus, close by Escape, and give the focus back.
import { createSignal, createUniqueId, onCleanup, onMount, Show } from 'solid-js';
import type { JSX } from 'solid-js';
import { Button } from './Button';
import { TextField } from './Form';
import './dialog.css';

/** <Show when={open()}><Dialog title="…" onClose={() => setOpen(false)} foot={<Button …/>}>…</Dialog></Show> */
export function Dialog(props: {
  title: string;
  wide?: boolean;
  /** A click beside it does not close it: what it shows would be lost. */
  firm?: boolean;
  onClose: () => void;
  /** Buttons at the end. */
  foot?: JSX.Element;
  /** Makes the body a form: called by Enter and by a button of type submit. */
  onSubmit?: () => void;
  children: JSX.Element;
}): JSX.Element {
  const title = createUniqueId();
  let element!: HTMLDialogElement;
  let body!: HTMLDivElement;
  const before = document.activeElement;
  onMount(() => {
    element.showModal();
    // What is only text is scrolled by keyboard too.
    if (body.querySelector('a, button, input, select, textarea, [tabindex]') === null) body.tabIndex = 0;
    // What asks for the focus has it, also where another field stands before it.
    const first = element.querySelector<HTMLElement>('[data-autofocus]') ?? element.querySelector<HTMLElement>('.dialog-body input, .dialog-body select, .dialog-body textarea');
    (first ?? element.querySelector<HTMLElement>('.dialog-foot .button:last-child'))?.focus();
  });
  onCleanup(() => {
    if (element.open) element.close();
    if (before instanceof HTMLElement && before.isConnected) before.focus();
    else document.getElementById('main')?.focus();
  });
  const inside = (
    <>
      <div ref={body} class="dialog-body">{props.children}</div>
      <Show when={props.foot}><div class="dialog-foot">{props.foot}</div></Show>
    </>
  );
  return (
    <dialog
      ref={element}
      class="dialog"
      classList={{ wide: props.wide === true }}
      aria-labelledby={title}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
      onKeyDown={(event) => event.stopPropagation()}
      onMouseDown={(event) => {
        if (event.target === element && props.firm !== true) props.onClose();
      }}
    >
      <header class="dialog-head">
        <h2 id={title}>{props.title}</h2>
        <Button kind="quiet" icon="close" bare label="Close" onClick={() => props.onClose()} />
      </header>
      <Show when={props.onSubmit} fallback={inside}>
        {(submit) => (
          <form
            class="dialog-form"
            onSubmit={(event) => {
              event.preventDefault();
              submit()();
            }}
          >
            {inside}
          </form>
        )}
      </Show>
    </dialog>
  );
}

export interface Question {
  title: string;
  /** What will happen, in words. */
  text: JSX.Element;
  action: string;
  danger?: boolean;
  /** A reason for the audit trail: asked for, or needed. */
  reason?: 'optional' | 'required';
}

interface Asked extends Question {
  answer: (value: { reason: string } | null) => void;
}

const [asked, setAsked] = createSignal<Asked | null>(null);

/** const yes = await confirm({ title: 'Disable 3 targets?', text: '…', action: 'Disable', reason: 'optional' }); */
export function confirm(question: Question): Promise<{ reason: string } | null> {
  return new Promise((resolve) => {
    setAsked({
      ...question,
      answer: (value) => {
        setAsked(null);
        resolve(value);
      },
    });
  });
}

/** Stands once in the shell; shows what `confirm` asks. */
export function ConfirmHost(): JSX.Element {
  return <Show when={asked()} keyed>{(question) => <ConfirmDialog question={question} />}</Show>;
}

function ConfirmDialog(props: { question: Asked }): JSX.Element {
  const [reason, setReason] = createSignal('');
  const [tried, setTried] = createSignal(false);
  const missing = () => props.question.reason === 'required' && reason().trim() === '';
  const go = () => {
    setTried(true);
    if (!missing()) props.question.answer({ reason: reason().trim() });
  };
  return (
    <Dialog
      title={props.question.title}
      onClose={() => props.question.answer(null)}
      onSubmit={go}
      foot={
        <>
          <Button onClick={() => props.question.answer(null)}>Cancel</Button>
          <Button kind={props.question.danger ? 'danger' : 'primary'} type="submit">{props.question.action}</Button>
        </>
      }
    >
      <div>{props.question.text}</div>
      <Show when={props.question.reason}>
        <TextField
          label={props.question.reason === 'required' ? 'Reason' : 'Reason (optional)'}
          help="Kept in the audit trail."
          value={reason()}
          onInput={setReason}
          error={tried() && missing() ? 'A reason is needed.' : undefined}
        />
      </Show>
    </Dialog>
  );
}
