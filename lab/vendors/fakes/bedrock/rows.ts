/** The ways in which the fake of Bedrock answers. */
import type { RefusalReason } from '../../../../service/contract/failures.ts';
import { type AnsweredRow, type Reply, row } from '../fake-vendor.ts';

export interface BedrockRow extends AnsweredRow {
  /** Absent: the fake renders a picture. */
  readonly reply?: Reply;
}

/** AWS puts the name of an error into a header. */
export function refused(status: number, type: string, message: string): Reply {
  return {
    status,
    headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` },
    body: { message },
  };
}

/** A row whose error AWS names by its type alone. */
function failing(name: string, status: number, type: string, answers: RefusalReason): BedrockRow {
  return row(name, `${status} ${type}`, answers, { reply: refused(status, type, 'A text of AWS.') });
}

export const answered = (body: object): Reply => ({ status: 200, body });
const finished = (reason: string): Reply => answered({ finish_reasons: [reason] });

export const bedrockRows: readonly BedrockRow[] = [
  row('success', 'a picture', 'rendered'),
  row('prompt-filter', 'Filter reason: prompt', 'prompt', { reply: finished('Filter reason: prompt') }),
  row('output-filter', 'Filter reason: output image', 'prompt', {
    reply: finished('Filter reason: output image'),
  }),
  row('input-filter', 'Filter reason: input image', 'source_image', {
    reply: finished('Filter reason: input image'),
  }),
  row('inference-error', 'Inference error', 'failed', { reply: finished('Inference error') }),
  row('other-finish', 'an unknown finish reason', 'unknown_answer', {
    reply: finished('Filter reason: something else'),
  }),
  failing('throttled', 429, 'ThrottlingException', 'unavailable'),
  failing('not-ready', 429, 'ModelNotReadyException', 'unavailable'),
  failing('down', 503, 'ServiceUnavailableException', 'unavailable'),
  failing('quota', 400, 'ServiceQuotaExceededException', 'unavailable'),
  failing('timed-out', 408, 'ModelTimeoutException', 'timed_out'),
  failing('model-error', 424, 'ModelErrorException', 'failed'),
  failing('error', 500, 'InternalServerException', 'failed'),
  failing('access-denied', 403, 'AccessDeniedException', 'credentials'),
  failing('model-missing', 404, 'ResourceNotFoundException', 'credentials'),
  failing('unknown-client', 403, 'UnrecognizedClientException', 'credentials'),
  failing('expired', 403, 'ExpiredTokenException', 'credentials'),
  failing('expired-400', 400, 'ExpiredToken', 'credentials'),
  failing('internal-failure', 500, 'InternalFailure', 'failed'),
  row('unauthenticated', '401 without a name', 'credentials', { reply: { status: 401, body: {} } }),
  row('payment', '402 without a name', 'credentials', { reply: { status: 402, body: {} } }),
  row('gateway', '503 of a proxy on the way', 'unavailable', {
    reply: { status: 503, body: '<html>503</html>' },
  }),
  failing('other-refusal', 400, 'ValidationException', 'unknown_answer'),
  row('empty', 'no picture', 'nothing_rendered', {
    reply: answered({ seeds: [], finish_reasons: [null], images: [] }),
  }),
  row('empty-picture', 'an empty picture', 'nothing_rendered', {
    reply: answered({ seeds: [7], finish_reasons: [null], images: [''] }),
  }),
  row('no-picture', 'a text in place of the picture', 'rendered', {
    ends: 'InternalFailure',
    reply: answered({ seeds: [7], finish_reasons: [null], images: ['PGh0bWw+'] }),
  }),
  row('unknown-shape', '200 with a body of another shape', 'unknown_answer', {
    reply: answered({ output: ['?'] }),
  }),
  row('no-json', '200 with a body that is not JSON', 'unknown_answer', {
    reply: { status: 200, body: '<html>' },
  }),
  row('redirect', '302 to another host', 'unknown_answer', {
    reply: { status: 302, headers: { location: 'https://elsewhere.test/' }, body: '{}' },
  }),
  row('break', 'a connection that is closed after the request', 'unknown_outcome', {
    reply: { status: 'break' },
  }),
];
