// Which of the dialogs that bring devices in is open, from any screen: openStart('add'). They stand in screens/start.
import { createSignal } from 'solid-js';

export type StartDialog = 'add' | 'discover';

const [startDialog, setStartDialog] = createSignal<StartDialog | null>(null);
export { startDialog };

export function openStart(which: StartDialog): void {
  setStartDialog(which);
}

export function closeStart(): void {
  setStartDialog(null);
}
