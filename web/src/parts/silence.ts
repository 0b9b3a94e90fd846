// The body of a silence, and how long one may be. Pure, for its test.

/** Seconds, for a field of choices. */
export const kSilenceLengths = [
  { value: '1800', label: '30 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '7200', label: '2 hours' },
  { value: '14400', label: '4 hours' },
  { value: '28800', label: '8 hours' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '1 week' },
] as const;
export const kUsualLength = '7200';

export interface SilenceWish {
  matchers: readonly string[];
  /** Seconds. */
  length: number;
  owner: string;
  reason: string;
}

/** device="core-1"; quotes and backslashes are escaped. */
export function matcher(label: string, value: string, operator: '=' | '=~' = '='): string {
  return `${label}${operator}"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** A name that says what and when, and that nobody else took: "core-1-20260131-140509". */
export function silenceName(about: string, now: number): string {
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll('-', '').replaceAll(':', '').replace('T', '-');
  const safe = about.toLowerCase().replaceAll(/[^a-z0-9_.-]+/g, '-').replaceAll(/^-+|-+$/g, '').slice(0, 60);
  return `${safe === '' ? 'silence' : safe}-${stamp}`;
}

export function silenceBody(wish: SilenceWish, name: string, now: number): Record<string, unknown> {
  return {
    name,
    match: [...wish.matchers],
    until: new Date(now + wish.length * 1000).toISOString(),
    owner: wish.owner,
    reason: wish.reason,
  };
}
