// The state of a target from its tasks, for pages that were opened before the fleet was loaded.
import type { TargetState } from '../api/model';
import type { TaskRow } from './model';

export function stateOfTasks(tasks: readonly TaskRow[]): TargetState {
  if (tasks.length === 0) return 'unknown';
  if (tasks.every((task) => !task.enabled)) return 'disabled';
  const on = tasks.filter((task) => task.enabled);
  if (on.some((task) => task.failures > 0)) return 'down';
  if (on.some((task) => task.last_success === undefined)) return 'unknown';
  return on.some((task) => task.staleness >= 1) ? 'stale' : 'up';
}
