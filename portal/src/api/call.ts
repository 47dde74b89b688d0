/** The only place that speaks to the portal's API. */
import {
  portalOperations,
  portalRoot,
  type PortalOperationName,
} from '../../../service/contract/operations.ts';
import { createValue } from '../value.ts';
import type { AnswerOf, Input } from '../../../service/contract/portal-calls.ts';
import { offline, refusalOf, type Refusal } from './refusal.ts';

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
  const { method } = portalOperations[name];
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
