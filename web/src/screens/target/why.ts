// "Why now?": the answer of GET /api/tasks/{key}/explain in sentences. Pure, for its test; `now` is
// the time of the server in ms, so that what is counted down goes on between two answers.
import { count, duration, percent } from '../../logic/format';
import { parseTime } from '../../logic/clock';
import { deadLetterWords } from '../../parts/dead_letter';
import type { TaskRow } from '../../parts/model';

export interface Gate {
  gate: string;
  open: boolean;
  until?: string;
  reason: string;
}

export interface IntervalStory {
  policy: string;
  shadow: boolean;
  changes_per_hour: number;
  weight: number;
  multiplier: number;
  wished: number;
  chosen: number;
  in_force: number;
  idle_drift: number;
  limited_by: string;
  pool_budget: number;
  pool_planned: number;
}

export interface Explanation {
  key: string;
  verdict: string;
  place: string;
  next_due?: string;
  wakes_at?: string;
  attempts: number;
  ready: boolean;
  place_in_line?: number;
  gates: Gate[];
  interval: IntervalStory;
  task: TaskRow;
}

/** What each gate asks, for people who see the word for the first time. */
export const kGateQuestions: Record<string, string> = {
  enabled: 'Is it to be polled at all?',
  due: 'Is it time?',
  needs: 'Is what it needs there?',
  breaker: 'Is it left alone after failures?',
  'in flight': 'Is the poll before it over?',
  admission: 'Is there room in the limits of rate and slots?',
};

function left(until: string | undefined, now: number): number | null {
  const at = parseTime(until);
  return at === null ? null : Math.max(0, Math.round((at - now) / 1000));
}

// The server counts down in its texts as it did when it was asked; here it goes on.
const kCountdowns = /,? (?:not yet, )?(?:next probe )?in [\d.]+ ?(?:ms|s|min|m|h|d)[\d.a-z ]*$/;

export function gateSentence(gate: Gate, now: number): string {
  const wait = left(gate.until, now);
  if (gate.open) {
    switch (gate.gate) {
      case 'enabled': return 'Yes, it is enabled.';
      case 'due': return 'Yes, its time has come.';
      case 'needs': return 'Yes, nothing is missing.';
      case 'breaker': return 'No, the breaker lets it through.';
      case 'in flight': return 'Yes, no poll is under way.';
      default: return 'Yes, there is room.';
    }
  }
  switch (gate.gate) {
    case 'due':
      return wait === null ? `Not yet: ${gate.reason}.` : wait === 0 ? 'Now: it is about to start.' : `Not yet: in ${duration(wait)}.`;
    case 'breaker': {
      const why = gate.reason.replace(kCountdowns, '').replace(/dead letter: (\w+)/, (_, reason: string) => `dead letter: ${deadLetterWords(reason)}`);
      return `Yes, the breaker is ${why}${wait === null ? '' : wait === 0 ? '; the next probe is about to start' : `; the next probe comes in ${duration(wait)}`}.`;
    }
    case 'in flight':
      return `No: ${gate.reason}.`;
    default:
      return `No: ${gate.reason}${wait === null || wait === 0 ? '' : `, for ${duration(wait)} at most`}.`;
  }
}

/** The first closed gate decides; breaker and due close together, and the breaker says more. */
export function decidingGate(story: Explanation): Gate | null {
  const closed = story.gates.find((gate) => !gate.open);
  if (closed === undefined) return null;
  const breaker = story.gates.find((gate) => gate.gate === 'breaker');
  return closed.gate === 'due' && breaker !== undefined && !breaker.open ? breaker : closed;
}

/** One sentence above all: what it is doing, and what happens next. */
export function headline(story: Explanation, now: number): string {
  if (story.place === 'faulted') return 'A decision about it failed: edit or enable it to try again.';
  const gate = decidingGate(story);
  if (gate === null) {
    const before = story.place_in_line ?? 0;
    return before === 0 ? 'It is due and starts next.' : `It is due; ${before === 1 ? 'one other goes' : `${count(before)} others go`} first.`;
  }
  const wait = left(gate.until, now);
  switch (gate.gate) {
    case 'enabled':
      return `It is not polled: ${gate.reason}.`;
    case 'due':
      return wait === null ? `It waits: ${gate.reason}.` : wait === 0 ? 'Its time has come: it is about to be polled.' : `It waits for its time: the next poll is in ${duration(wait)}.`;
    case 'breaker':
      return `It failed ${plainTimes(story.task.failures)} in a row, so it is only probed${wait === null ? '' : wait === 0 ? ': the next probe is about to start' : `: the next probe is in ${duration(wait)}`}.`;
    case 'in flight':
      return 'It is being polled right now.';
    case 'needs':
      return `It is held back: ${gate.reason}.`;
    default:
      return `It is due, and waits for room: ${gate.reason}.`;
  }
}

const plainTimes = (times: number) => (times === 1 ? 'once' : times === 2 ? 'twice' : `${count(times)} times`);

const kLimits: Record<string, string> = {
  nothing: 'Nothing stood in its way.',
  'the minimum': 'It may not be polled more often than its shortest interval allows.',
  'the stretch limit': 'The preset lets no target wait longer than this, however quiet it is.',
  'the staleness bound': 'Its data would become older than its bound allows.',
  'idle drift': 'Nothing changed for an hour or more, so it drifts to the slowest rate of its preset; what it does not use is not spent.',
  'a parent down': 'What it stands behind is down, so it is asked at its slowest rate until that is back.',
  'a fixed interval': 'No policy decides: adaptive polling is off, or it is outside of its scope.',
};

export function limitSentence(limitedBy: string): string {
  return kLimits[limitedBy] ?? `Limited by ${limitedBy}.`;
}

/** "about every 7 min 17 s" */
export function howOften(changesPerHour: number): string {
  if (changesPerHour <= 0) return 'hardly ever';
  const seconds = 3600 / changesPerHour;
  return seconds > 7 * 86_400 ? 'less than once a week' : `about every ${duration(seconds >= 600 ? Math.round(seconds / 60) * 60 : seconds)}`;
}

/** How the interval came about, in the order in which it was decided. */
export function intervalSentences(story: Explanation): string[] {
  const now = story.interval;
  const task = story.task;
  const found: string[] = [];
  if (task.failures > 0) {
    found.push(
      `While it fails, the failure ladder alone decides: attempt ${count(task.failures + 1)} comes ${duration(now.in_force)} after the last one. What follows is what holds again when it answers.`,
    );
  }
  if (now.policy === 'fixed' || now.limited_by === 'a fixed interval') {
    found.push(`It is polled every ${duration(now.chosen > 0 ? now.chosen : now.in_force)}, whatever its answers say. ${limitSentence('a fixed interval')}`);
    return found;
  }
  if (now.policy === 'optimal' || now.changes_per_hour > 0) {
    found.push(
      `Its answers change ${howOften(now.changes_per_hour)} (believed: ${count(now.changes_per_hour, 2)} changes per hour). Its tier is ${task.tier} (weight ${count(now.weight, 1)}).`,
    );
    if (now.multiplier > 0) {
      found.push(`At the present price of a poll (multiplier ${count(now.multiplier, 2)}, the same for all in its pool) that is worth a poll every ${duration(now.wished)}.`);
    }
  } else found.push(`The policy ${now.policy} wishes a poll every ${duration(now.wished)}.`);
  const held = now.limited_by === 'a parent down';
  if (held) found.push(`That would be ${duration(now.chosen)} within its limits. But what it stands behind is down, so it is asked at its slowest rate until that is back: every ${duration(now.in_force)}.`);
  else if (now.limited_by === 'nothing') found.push(`Nothing stood in the way of that: ${duration(now.chosen)} was chosen.`);
  else found.push(`Chosen was ${duration(now.chosen)}, limited by ${now.limited_by}. ${limitSentence(now.limited_by)}`);
  if (now.idle_drift > 0) found.push(`It has drifted ${percent(now.idle_drift, 0)} of the way to its slowest rate, since nothing changed for long.`);
  if (now.shadow) found.push(`Adaptive polling only watches (shadow): the fixed interval of ${duration(now.in_force)} stays in force.`);
  else if (task.failures === 0 && !held) found.push(forceSentence(now));
  if (now.pool_budget > 0) {
    found.push(
      `Its pool may spend ${count(now.pool_budget, 2)} polls per second and plans ${count(now.pool_planned, 2)} (${percent(now.pool_planned / now.pool_budget, 0)}).`,
    );
  }
  return found;
}

function forceSentence(now: IntervalStory): string {
  const ratio = now.chosen > 0 ? now.in_force / now.chosen : 1;
  if (ratio > 0.94 && ratio < 1.06) return `In force are ${duration(now.in_force)}: up to 5 % of play keep starts apart from each other.`;
  return `In force are ${duration(now.in_force)}, from the poll before; the newer choice holds from the next poll on.`;
}
