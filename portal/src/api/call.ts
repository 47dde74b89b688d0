/** The only module that calls the portal's API. */
import {
  type PortalOperation,
  type PortalOperationName,
  portalOperations,
  portalRoot,
} from '../../../service/contract/operations.ts';
import type { AnswerOf, Input } from '../../../service/contract/portal-calls.ts';
import { createValue } from '../value.ts';

/** Why a call failed: the service's message, or ours when the service could not be reached. */
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

const offline = (isWrite: boolean): Refusal =>
  new Refusal(
    'OFFLINE',
    isWrite
      ? 'The connection broke, and your request may or may not have arrived. Check the page before you send it again.'
      : 'Your browser cannot reach the service.',
  );

/** The refusal in an answer of the service. */
async function refusalOf(response: Response): Promise<Refusal> {
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

/** True from the first 401 after a sign-in on: the page asks to sign in again. */
export const sessionEnded = createValue(false);

function addressOf(name: PortalOperationName, { id = '', query = {} }: Input): string {
  const path = portalOperations[name].path.replace('{id}', encodeURIComponent(id));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(key, value);
  const text = search.toString();
  return `${portalRoot}${path}${text === '' ? '' : `?${text}`}`;
}

async function send(name: PortalOperationName, input: Input, signal?: AbortSignal): Promise<Response> {
  // The build leaves GET out of the table.
  const operation: Partial<PortalOperation> = portalOperations[name];
  const method = operation.method ?? 'GET';
  const headers: Record<string, string> = {};
  const hasBody = input.body !== undefined;
  if (hasBody) headers['content-type'] = 'application/json';
  if (input.idempotencyKey !== undefined) headers['idempotency-key'] = input.idempotencyKey;
  const response = await fetch(addressOf(name, input), {
    method,
    headers,
    credentials: 'same-origin',
    cache: 'no-store',
    ...(hasBody && { body: JSON.stringify(input.body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    throw signal?.aborted === true ? error : offline(method !== 'GET');
  });
  if (response.ok) return response;
  const refusal: Refusal = await refusalOf(response);
  if (response.status === 401 && name !== 'getMe') sessionEnded.set(true);
  throw refusal;
}

/** Calls an operation. Throws a Refusal when the service refuses or cannot be reached. */
export async function call<Name extends PortalOperationName>(
  name: Name,
  input: Input<Name> = {},
  signal?: AbortSignal,
): Promise<AnswerOf<Name>> {
  const response = await send(name, input, signal);
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as AnswerOf<Name>;
}

/** Calls an operation that answers a text in parts, and joins the parts. */
export async function callForText(name: 'exportLedger' | 'exportUsage', input: Input): Promise<string> {
  const parts: string[] = [];
  let cursor: string | undefined;
  do {
    const response = await send(name, { ...input, query: { ...input.query, cursor } });
    parts.push(await response.text());
    cursor = response.headers.get('x-next-cursor') ?? undefined;
  } while (cursor !== undefined && cursor !== '');
  return parts.join('');
}
