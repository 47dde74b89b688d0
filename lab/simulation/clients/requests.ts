/** Builds requests in the form in which API Gateway passes them to a function. */
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { Operation } from '../aws/deployed-service.ts';
import type { Books } from '../invariants/money-books.ts';
import { addressMark, type KeyHeld, promptMark } from './open-accounts.ts';
import type { Submit } from './scenario.ts';

/** What a request for an image is made of. */
type Submission = Pick<
  Submit,
  | 'quality'
  | 'count'
  | 'name'
  | 'model'
  | 'resolution'
  | 'directives'
  | 'images'
  | 'idempotencyKey'
  | 'wait'
  | 'user'
  | 'webhook'
>;

/** Two providers render 2K, so that a second one may give what the first one has not given. */
const backgroundOf: Readonly<Record<string, string>> = { '1K': 'opaque', '2K': 'transparent' };

/** The second image, or an address: origins and uploads that misbehave are met by masks, too. */
function maskOf([, second = 'https://sources.test/mask.png']: readonly string[]): string {
  return second;
}

/** The request for an image that a step sends. */
export function submission(step: Submission, key: KeyHeld): APIGatewayProxyEventV2 {
  const { body, headers } = submissionParts(step);
  return eventOf('POST', '/api/public/v1/images/generate', key, headers, JSON.stringify(body));
}

/** Its body and its headers. */
export function submissionParts(step: Submission): {
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
} {
  const { idempotencyKey, wait, images, quality, count } = step;
  const metadata = {
    ...(idempotencyKey !== undefined && { idempotency: idempotencyKey }),
    ...(count !== undefined && { count: String(count) }),
  };
  // Steps that share an idempotency key send the same request, as a retry does.
  const own = idempotencyKey === undefined ? step.name : 'shared';
  const body = {
    model: step.model,
    prompt: `${promptMark} ${own} ${step.directives}`,
    resolution: step.resolution,
    ...(step.model === 'sandbox-standard' && { negative_prompt: `${promptMark} clouds` }),
    ...(step.model === 'sandbox-pro' && { output_format: 'png', background: backgroundOf[step.resolution] }),
    // The requests of one idempotency key are the same, so they name the same user.
    ...(step.user !== undefined && { user: idempotencyKey === undefined ? step.user : 'user 1' }),
    ...(images.length > 0 && { image_urls: images }),
    ...(step.model === 'sandbox-pro' && images.length > 0 && { mask_url: maskOf(images) }),
    ...(step.webhook && { webhook_url: `https://receiver.test/${step.webhook}?${addressMark}` }),
    ...(quality && { quality }),
    ...(count !== undefined && { count }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
  const headers = {
    'content-type': 'application/json',
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    ...(wait !== undefined && { prefer: `wait=${wait}` }),
  };
  return { body, headers };
}

/** A request with an API key. */
export function eventOf(
  method: string,
  path: string,
  key: KeyHeld,
  headers: Readonly<Record<string, string>>,
  body?: string,
  id?: string,
  sourceIp = '203.0.113.7',
): APIGatewayProxyEventV2 {
  return {
    rawPath: path,
    headers: { authorization: `Bearer ${key.text}`, ...headers },
    ...(id !== undefined && { pathParameters: { id } }),
    ...(body !== undefined && { body }),
    isBase64Encoded: false,
    requestContext: { http: { method, sourceIp }, requestId: '', domainName: 'api.test' },
  } as unknown as APIGatewayProxyEventV2;
}

/** The state of the books when a request was sent. */
export interface Before {
  readonly at: number;
  readonly ledger: ReturnType<Books['ledgerOf']>;
}

/** A request with its sender, and the answers that the sender may get. */
export interface Asked extends Before {
  readonly account: string;
  /** Whether the key may have been revoked, or the account suspended, before the answer. */
  readonly mayBeRefused: boolean;
  /**
   * Whether a command that revoked the key or suspended the account returned before the request, and still
   * holds.
   */
  readonly mustBeRefused: boolean;
  readonly operation: Operation;
}

// Reads JSON bodies: those of the API's answers and those of webhooks.

/** The members of a JSON object. */
export type Body = Readonly<Record<string, unknown>>;

/** The body as an object. Empty when there is no body. */
export function bodyOf(text: string | undefined): Body {
  return asBody(JSON.parse(text ?? '{}')) ?? {};
}

/** The creations of an answer that accepts a request: a list of those that the request counts, or the only one. */
export function acceptedIn(body: Body): readonly Body[] {
  const { data } = body;
  return Array.isArray(data) ? data.map((one) => asBody(one) ?? {}) : [body];
}

/** The invocation that gave an answer. The id of a request begins with the id of its invocation (request-id.ts). */
export function invocationOf(headers: Readonly<Record<string, boolean | number | string>> = {}): string {
  return String(headers['x-request-id'] ?? '').split('.')[0] ?? '';
}

/** The details of the error in an answer; undefined when the answer holds none. */
export function detailsOf(text: string | undefined): Body | undefined {
  return asBody(asBody(bodyOf(text)['error'])?.['details']);
}

/** A member that is a text; an empty text when it is anything else. */
export function memberOf(body: Body, name: string): string {
  const value = body[name];
  return typeof value === 'string' ? value : '';
}

/** The value, when it is an object with members. */
export function asBody(value: unknown): Body | undefined {
  return isBody(value) ? value : undefined;
}

function isBody(value: unknown): value is Body {
  return typeof value === 'object' && value !== null;
}
