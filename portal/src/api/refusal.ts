/** Why a call did not succeed, in the words of the service or, when it could not be reached, in ours. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

export class Refusal extends Error {
  /** The code of the service, or 'OFFLINE' when no answer came. */
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly requestId: string | null;
  /** Seconds after which the same call may succeed. */
  readonly retryAfter: number | null;
  constructor(
    code: string,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    requestId: string | null = null,
    retryAfter: number | null = null,
  ) {
    super(message);
    this.code = code;
    this.details = details;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }

  /** The wrong fields of the body, by their names. */
  get fields(): ReadonlyMap<string, string> {
    const { errors } = this.details;
    if (!Array.isArray(errors)) return new Map();
    return new Map((errors as FieldError[]).map(({ field, message }) => [field, message]));
  }

  get needsFreshSignIn(): boolean {
    return this.code === 'ERR_FORBIDDEN' && this.details['reason'] === 'reauthenticate';
  }

  /** The form was filled in from values that are no longer stored. */
  get isStale(): boolean {
    return this.code === 'ERR_CONFLICT' && this.details['reason'] === 'changed_meanwhile';
  }

  get lacksRole(): boolean {
    return this.code === 'ERR_FORBIDDEN' && this.details['reason'] === 'role';
  }
}

export const offline = (isWrite: boolean): Refusal =>
  new Refusal(
    'OFFLINE',
    isWrite
      ? 'The connection broke. Nobody knows whether the service got your request: look at the page before you send it again.'
      : 'Your browser cannot reach the service.',
  );

/** The refusal that an answer of the service holds. */
export async function refusalOf(response: Response): Promise<Refusal> {
  const requestId = response.headers.get('x-request-id');
  const retryAfter = Number(response.headers.get('retry-after'));
  const known = (await response.json().catch(() => undefined)) as
    | { readonly error?: { code?: string; message?: string; details?: Readonly<Record<string, unknown>> } }
    | undefined;
  const error = known?.error;
  return new Refusal(
    error?.code ?? `HTTP_${response.status}`,
    error?.message ?? `The service answered ${response.status} without a reason.`,
    error?.details ?? {},
    requestId,
    retryAfter > 0 ? retryAfter : null,
  );
}
