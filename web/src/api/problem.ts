// Errors of the API (RFC 9457), and those that never reached it.

export interface FieldError {
  pointer?: string;
  parameter?: string;
  detail: string;
  line?: number;
}

export class Problem extends Error {
  readonly status: number;
  /** Stable; compare this, show `message`. */
  readonly code: string;
  readonly title: string;
  readonly requestId: string;
  readonly errors: FieldError[];
  /** Seconds to wait, of 429 and 503. */
  readonly retryAfter: number | null;

  constructor(fields: {
    status: number;
    code: string;
    title?: string;
    detail: string;
    requestId?: string;
    errors?: FieldError[];
    retryAfter?: number | null;
  }) {
    super(fields.detail);
    this.name = 'Problem';
    this.status = fields.status;
    this.code = fields.code;
    this.title = fields.title ?? '';
    this.requestId = fields.requestId ?? '';
    this.errors = fields.errors ?? [];
    this.retryAfter = fields.retryAfter ?? null;
  }

  /** The server could not be reached at all. */
  get offline(): boolean {
    return this.status === 0;
  }

  /** What is wrong with one field: "/address" or "/device_spec/address". */
  field(pointer: string): string | undefined {
    return this.errors.find((error) => error.pointer === pointer)?.detail;
  }

  /** What is wrong with a field or with something inside of it: "match" is told of /match and of /match/0. */
  inside(field: string): string | undefined {
    return this.errors.find((error) => isInside(error, field))?.detail;
  }

  /** Pointers of the mistakes that `inside` tells of these fields. */
  pointersInside(fields: readonly string[]): string[] {
    return this.errors.flatMap((error) => (error.pointer !== undefined && fields.some((field) => isInside(error, field)) ? [error.pointer] : []));
  }

  /** Mistakes that belong to none of these fields, to be shown above the form. */
  others(pointers: readonly string[]): FieldError[] {
    return this.errors.filter((error) => error.pointer === undefined || !pointers.includes(error.pointer));
  }
}

function isInside(error: FieldError, field: string): boolean {
  return error.pointer === `/${field}` || error.pointer?.startsWith(`/${field}/`) === true;
}

export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new Problem({ status: 0, code: 'page.error', detail });
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

export async function problemOf(response: Response): Promise<Problem> {
  const text = await response.text().catch(() => '');
  const after = Number(response.headers.get('Retry-After'));
  const retryAfter = Number.isFinite(after) && after > 0 ? after : null;
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    return new Problem({
      status: response.status,
      code: typeof body['code'] === 'string' ? body['code'] : `http.${response.status}`,
      title: typeof body['title'] === 'string' ? body['title'] : response.statusText,
      detail: typeof body['detail'] === 'string' ? body['detail'] : `The server answered ${response.status}.`,
      requestId: typeof body['request_id'] === 'string' ? body['request_id'] : '',
      errors: Array.isArray(body['errors']) ? (body['errors'] as FieldError[]) : [],
      retryAfter,
    });
  } catch {
    return new Problem({
      status: response.status,
      code: `http.${response.status}`,
      title: response.statusText,
      detail: `The server answered ${response.status} ${response.statusText}.`.trim(),
      retryAfter,
    });
  }
}
