// Why something is a dead letter, in words.
const kReasons: Record<string, string> = {
  max_retry_attempts: 'too many failures in a row',
  permanent_failure: 'trying again does not help',
  repeated_interruption: 'its runs are cut off again and again',
};

export function deadLetterWords(reason: string): string {
  return kReasons[reason] ?? reason.replaceAll('_', ' ');
}
