// Small words about tasks. Pure.

/** The target of a task: "pve::node1#slow" is a part of "pve::node1". */
export function targetOf(task: string): string {
  const at = task.lastIndexOf('#');
  return at < 0 ? task : task.slice(0, at);
}

export function words(name: string): string {
  return name.replaceAll('_', ' ');
}

export const kDeadLetterReasons: Record<string, { word: string; what: string; advice: string }> = {
  max_retry_attempts: {
    word: 'kept failing',
    what: 'It failed five times or more in a row.',
    advice: 'The device or the way to it is down. When it is back, the next probe finds it by itself; a retry makes it sooner.',
  },
  permanent_failure: {
    word: 'needs a change',
    what: 'Credentials, configuration or a certificate are wrong; it was confirmed.',
    advice: 'Mend the cause first: an edit of the target makes it due by itself. A retry without a change only fails again.',
  },
  repeated_interruption: {
    word: 'kept being interrupted',
    what: 'Its run was interrupted five times in a row; it may be what ends its worker.',
    advice: 'Look at the log of the server for what ended the worker before you retry.',
  },
};

export function reasonWord(reason: string): string {
  return kDeadLetterReasons[reason]?.word ?? words(reason);
}
