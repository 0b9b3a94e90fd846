// Why something is a dead letter, in words. Pure.

/** As a mark, inside of a sentence, as a sentence, and what to do. */
export const kDeadLetterReasons: Record<string, { word: string; why: string; what: string; advice: string }> = {
  max_retry_attempts: {
    word: 'kept failing',
    why: 'too many failures in a row',
    what: 'It failed five times or more in a row.',
    advice: 'The device or the way to it is down. When it is back, the next probe finds it by itself; a retry makes it sooner.',
  },
  permanent_failure: {
    word: 'needs a change',
    why: 'trying again does not help',
    what: 'Credentials, configuration or a certificate are wrong; it was confirmed.',
    advice: 'Mend the cause first: an edit of the target makes it due by itself. A retry without a change only fails again.',
  },
  repeated_interruption: {
    word: 'kept being interrupted',
    why: 'its runs are cut off again and again',
    what: 'Its run was interrupted five times in a row; it may be what ends its worker.',
    advice: 'Look at the log of the server for what ended the worker before you retry.',
  },
};

const plain = (reason: string) => reason.replaceAll('_', ' ');

export function deadLetterMark(reason: string): string {
  return kDeadLetterReasons[reason]?.word ?? plain(reason);
}

export function deadLetterWords(reason: string): string {
  return kDeadLetterReasons[reason]?.why ?? plain(reason);
}
