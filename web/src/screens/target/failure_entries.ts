// What the menu of a target offers against its breakers and dead letters.
import type { MenuEntry } from '../../design';
import { resetBreakers, retryDeadLetters } from '../../parts/failure_acts';
import type { TaskRow } from '../../parts/model';
import { whyNot } from '../../state/session';

type Failing = Pick<TaskRow, 'key' | 'breaker' | 'dead_letter'>;

/** One entry for each part that has such a failure; `run` is given the act that was chosen. */
export function failureEntries(tasks: readonly Failing[], target: string, run: (act: () => Promise<boolean>) => void): MenuEntry[] {
  const entry = (task: Failing, verb: string, act: typeof resetBreakers): MenuEntry => ({
    label: `${verb}${task.key === target ? '' : ` of ${task.key}`}…`,
    icon: 'refresh',
    disabledReason: whyNot('manage'),
    run: () => run(async () => (await act({ keys: [task.key] })) !== null),
  });
  return [
    ...tasks.filter((task) => task.breaker !== 'closed').map((task) => entry(task, 'Reset the breaker', resetBreakers)),
    ...tasks.filter((task) => task.dead_letter !== 'none').map((task) => entry(task, 'Retry the dead letter', retryDeadLetters)),
  ];
}
