// The filter of the audit trail as parameters of a query. Pure.
export interface AuditFilter {
  principal: string;
  action: string;
  object: string;
  result: string;
  /** As an input of a local time has them: "2026-01-31T14:05"; empty: no bound. */
  from: string;
  to: string;
}

export const kNoFilter: AuditFilter = { principal: '', action: '', object: '', result: '', from: '', to: '' };

export function auditQuery(filter: AuditFilter): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of ['principal', 'action', 'object', 'result'] as const) {
    const value = filter[name].trim();
    if (value !== '') found[name] = value;
  }
  for (const name of ['from', 'to'] as const) {
    const at = filter[name] === '' ? Number.NaN : new Date(filter[name]).getTime();
    if (!Number.isNaN(at)) found[name] = new Date(at).toISOString();
  }
  return found;
}

/** Short JSON of a record, laid out; what is no JSON stays as it is. */
export function laidOut(text: string): string {
  if (!/^[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
