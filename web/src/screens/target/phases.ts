// The phases of a poll, as the API names them. Pure, for its test.
import { duration } from '../../logic/format';

export interface Phase {
  name: string;
  seconds: number;
}

export const kPhases: readonly string[] = ['dns', 'connect', 'tls', 'login', 'wait', 'read'];

/** "wait 9 ms, connect 1.2 ms", the longest first: it is what is looked for. */
export function phaseWords(phases: readonly Phase[]): string {
  return [...phases].sort((a, b) => b.seconds - a.seconds).map((one) => `${one.name} ${duration(one.seconds)}`).join(', ');
}
