/**
 * What API Gateway answers by itself on the streaming APIs, in the form that clients of each API understand. An
 * HTTP API has no such answers of our own.
 */
import { ResponseType } from 'aws-cdk-lib/aws-apigateway';
import { apiRoot } from '../../service/contract/operations.ts';

/** One answer of API Gateway. */
export interface GatewayAnswer {
  readonly type: ResponseType;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** What happened, in the words of both forms. */
interface Refusal {
  readonly type: ResponseType;
  readonly status: number;
  /** OpenAI's type and code of the error. */
  readonly kind: string;
  readonly code: string;
  readonly message: string;
  /** Seconds. Absent: the same request can never succeed. */
  readonly retryAfter?: number;
}

const refusals: readonly Refusal[] = [
  {
    // A function that was throttled, crashed, or timed out before it gave its answer.
    type: ResponseType.DEFAULT_5XX,
    status: 503,
    kind: 'server_error',
    code: 'overloaded',
    message: 'The service is busy. Send the request again in some seconds.',
    retryAfter: 5,
  },
  {
    type: ResponseType.THROTTLED,
    status: 429,
    kind: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    message: 'Too many requests reach the service at once. Send the request again in some seconds.',
    retryAfter: 5,
  },
  {
    type: ResponseType.REQUEST_TOO_LARGE,
    status: 413,
    kind: 'invalid_request_error',
    code: 'request_too_large',
    message: `The request is too large. Put large images with POST ${apiRoot}/uploads, and send their addresses.`,
  },
  {
    // The operator's firewall. It would be 404, as every other error of the client.
    type: ResponseType.WAF_FILTERED,
    status: 403,
    kind: 'permission_error',
    code: 'request_blocked',
    message: 'The firewall of this service has refused the request. Ask its operator.',
  },
  {
    // A path or a method that the API does not have: a missing authentication token, as API Gateway calls it.
    type: ResponseType.DEFAULT_4XX,
    status: 404,
    kind: 'invalid_request_error',
    code: 'unknown_url',
    message: 'There is no such path, or it does not take this method.',
  },
];

/** The answers in OpenAI's form. Its libraries repeat a request by the header x-should-retry. */
export const openaiAnswers = refusals.map(({ kind, code, message, ...refusal }) =>
  answerOf(refusal, { error: { message, type: kind, param: null, code } }),
);

/** The answers as errors of JSON-RPC. API Gateway does not know the id of the request. */
export const mcpAnswers = refusals.map(({ message, ...refusal }) =>
  answerOf(refusal, { jsonrpc: '2.0', id: null, error: { code: -32_000, message } }),
);

function answerOf(
  { type, status, retryAfter }: Pick<Refusal, 'type' | 'status' | 'retryAfter'>,
  body: object,
): GatewayAnswer {
  return {
    type,
    status,
    headers: {
      'x-request-id': 'context.requestId',
      'x-should-retry': `'${String(retryAfter !== undefined)}'`,
      ...(retryAfter !== undefined && { 'Retry-After': `'${retryAfter}'` }),
    },
    body,
  };
}
