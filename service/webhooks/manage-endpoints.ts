/** What clients and the people of an account do with its endpoints: the API and the portal share this. */
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { idempotencyKeyMalformed, idempotencyKeyMismatch } from '../api/problems.ts';
import { type ApiRequest, jsonBody } from '../api/request.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { type OutboundRules, readClientUrl } from '../outbound/client-url.ts';
import { type AccountId, type EndpointId, newEndpointId, parseEndpointId, toBase62 } from '../values/ids.ts';
import { type FieldError, fieldErrors, invalidRequest, onePerField, Problem } from '../values/problem.ts';
import { isPrintable } from '../values/text.ts';
import type { Clock, RandomBytes } from '../values/runtime.ts';
import type { EndpointStore } from './endpoint-store.ts';
import { changed, type Endpoint, type EndpointChange, endpointEvents, mostEndpoints } from './endpoint.ts';

export interface EndpointServices {
  readonly clock: Pick<Clock, 'now'>;
  readonly randomBytes: RandomBytes;
  readonly outbound: Pick<Outbound, 'check'>;
  readonly outboundRules: OutboundRules;
  readonly endpoints: EndpointStore;
}

const longestDescription = 200;

const event = z.enum(endpointEvents as [(typeof endpointEvents)[number], ...typeof endpointEvents]);
const members = {
  url: z.string(),
  description: z.string().check(
    z.maxLength(longestDescription),
    z.refine(isPrintable, {
      error: 'must not contain control characters',
      params: { code: 'invalid_value' },
    }),
  ),
  events: z.array(event).check(
    z.minLength(1),
    z.refine((events) => new Set(events).size === events.length, {
      error: 'must name each event once',
      params: { code: 'invalid_value' },
    }),
  ),
  enabled: z.boolean(),
};

const newSchema = z.strictObject({
  url: members.url,
  events: members.events,
  description: z.nullish(members.description),
  enabled: z.nullish(members.enabled),
});
const changeSchema = z.strictObject({
  url: z.optional(members.url),
  events: z.optional(members.events),
  description: z.optional(members.description),
  enabled: z.optional(members.enabled),
});

export interface CreatedEndpoint {
  readonly endpoint: Endpoint;
  /** An earlier request with the same Idempotency-Key made the endpoint. */
  readonly isReplayed: boolean;
}

/** Adds an endpoint. Throws 400 for a wrong field, and for an eleventh endpoint. */
export async function createEndpoint(
  request: ApiRequest,
  account: AccountId,
  services: EndpointServices,
  extra: readonly FieldError[] = [],
): Promise<CreatedEndpoint> {
  const body = parsed(request, newSchema, services, extra);
  await checkTarget(body.url, services);
  const named = namedBy(request, account, body);
  const id = named?.id ?? newEndpointId(services.randomBytes);
  const endpoint: Endpoint = {
    id,
    url: body.url,
    description: body.description ?? '',
    events: body.events,
    enabled: body.enabled ?? true,
    createdAt: new Date(services.clock.now()).toISOString(),
    ...(named && { requestHash: named.requestHash }),
  };
  let isReplayed = false;
  const list = await services.endpoints.change(account, (stored, isAgain) => {
    const found = stored.find((one) => one.id === id);
    if (found && found.requestHash !== endpoint.requestHash) throw idempotencyKeyMismatch();
    isReplayed = found !== undefined && !isAgain;
    if (found) return stored;
    if (stored.length >= mostEndpoints) throw tooMany();
    return [...stored, endpoint];
  });
  return { endpoint: list.find((one) => one.id === id) ?? endpoint, isReplayed };
}

/** Changes the members that the body names. Throws 404 for an absent endpoint. */
export async function changeEndpoint(
  request: ApiRequest,
  account: AccountId,
  services: EndpointServices,
  extra: readonly FieldError[] = [],
): Promise<Endpoint> {
  const change = parsed(request, changeSchema, services, extra) as EndpointChange;
  const id = idIn(request);
  if (change.url !== undefined) await checkTarget(change.url, services);
  const list = await services.endpoints.change(account, (stored) => {
    if (!stored.some((one) => one.id === id)) throw endpointNotFound();
    return stored.map((one) => (one.id === id ? changed(one, change) : one));
  });
  return list.find((one) => one.id === id) as Endpoint;
}

/** Deletes an endpoint. Throws 404 for an absent one. */
export async function deleteEndpoint(
  request: ApiRequest,
  account: AccountId,
  { endpoints }: Pick<EndpointServices, 'endpoints'>,
): Promise<void> {
  const id = idIn(request);
  await endpoints.change(account, (stored, isAgain) => {
    if (stored.some((one) => one.id === id)) return stored.filter((one) => one.id !== id);
    if (isAgain) return stored;
    throw endpointNotFound();
  });
}

/** 404: the same answer for an absent endpoint and for one of another account. */
function endpointNotFound(): Problem {
  return new Problem('ERR_NOT_FOUND', 'There is no endpoint with this id.');
}

function tooMany(): Problem {
  const message = `an account has at most ${mostEndpoints} endpoints: change one, or delete one first`;
  return invalidRequest([{ field: 'url', code: 'too_many', message }]);
}

function idIn({ pathId }: ApiRequest): EndpointId {
  const id = parseEndpointId(pathId);
  if (id === undefined) throw endpointNotFound();
  return id;
}

/** Throws 400 that names every wrong field. */
function parsed<Schema extends typeof newSchema | typeof changeSchema>(
  request: ApiRequest,
  schema: Schema,
  { outboundRules: rules }: EndpointServices,
  extra: readonly FieldError[],
): z.output<Schema> {
  const body = jsonBody(request);
  const result = schema.safeParse(body, { reportInput: true });
  const read = typeof body['url'] === 'string' ? readClientUrl(body['url'], 'webhook', rules) : undefined;
  const errors = onePerField([
    ...extra,
    ...fieldErrors(result.error?.issues ?? []),
    ...(read?.kind === 'refused' ? [{ field: 'url', code: read.code, message: read.why }] : []),
  ]);
  if (!result.success || errors.length > 0) throw invalidRequest(errors);
  return result.data as z.output<Schema>;
}

/** The host must lead to public addresses only, now and again at every attempt. */
async function checkTarget(url: string, { outbound }: EndpointServices): Promise<void> {
  const verdict = await outbound.check(url);
  if (verdict.kind === 'refused')
    throw invalidRequest([{ field: 'url', code: 'refused_target', message: verdict.why }]);
}

/** The id that follows from an Idempotency-Key: a repeated request finds its endpoint under it. */
function namedBy(
  { idempotencyKey: key }: ApiRequest,
  account: AccountId,
  body: z.output<typeof newSchema>,
): { readonly id: EndpointId; readonly requestHash: string } | undefined {
  if (key.kind === 'malformed') throw idempotencyKeyMalformed();
  if (key.kind === 'absent') return undefined;
  const hash = createHash('sha256').update(`${account} ${key.hash}`).digest('hex');
  const id = `we_${toBase62(BigInt(`0x${hash}`), 14)}` as EndpointId;
  const { url, events, description = null, enabled = null } = body;
  const text = JSON.stringify([url, events, description, enabled]);
  return { id, requestHash: createHash('sha256').update(text).digest('hex').slice(0, 16) };
}
