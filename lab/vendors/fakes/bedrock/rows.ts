/** The ways in which the fake of Bedrock answers. */
import type { RefusalReason } from '../../../../service/contract/failures.ts';
import type { Reply, VendorRow } from '../fake-vendor.ts';

export interface BedrockRow extends VendorRow {
  /** How the adapter reads this answer. */
  readonly answers: RefusalReason | 'rendered';
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
function failing(
  row: string,
  status: number,
  type: string,
  answers: RefusalReason,
  ends: VendorRow['ends'],
): BedrockRow {
  return { row, says: `${status} ${type}`, answers, ends, reply: refused(status, type, 'A text of AWS.') };
}

export const answered = (body: object): Reply => ({ status: 200, body });
const finished = (reason: string): Reply => answered({ finish_reasons: [reason] });

export const bedrockRows: readonly BedrockRow[] = [
  { row: 'success', says: 'a picture', answers: 'rendered', ends: 'completed' },
  {
    row: 'prompt-filter',
    says: 'Filter reason: prompt',
    answers: 'prompt',
    ends: 'PromptRejected',
    reply: finished('Filter reason: prompt'),
  },
  {
    row: 'output-filter',
    says: 'Filter reason: output image',
    answers: 'prompt',
    ends: 'PromptRejected',
    reply: finished('Filter reason: output image'),
  },
  {
    row: 'input-filter',
    says: 'Filter reason: input image',
    answers: 'source_image',
    ends: 'SourceImageRejected',
    reply: finished('Filter reason: input image'),
  },
  {
    row: 'inference-error',
    says: 'Inference error',
    answers: 'failed',
    ends: 'GenerationFailed',
    reply: finished('Inference error'),
  },
  {
    row: 'other-finish',
    says: 'an unknown finish reason',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: finished('Filter reason: something else'),
  },
  failing('throttled', 429, 'ThrottlingException', 'unavailable', 'ServiceUnavailable'),
  failing('not-ready', 429, 'ModelNotReadyException', 'unavailable', 'ServiceUnavailable'),
  failing('down', 503, 'ServiceUnavailableException', 'unavailable', 'ServiceUnavailable'),
  failing('quota', 400, 'ServiceQuotaExceededException', 'unavailable', 'ServiceUnavailable'),
  failing('timed-out', 408, 'ModelTimeoutException', 'timed_out', 'GenerationTimedOut'),
  failing('model-error', 424, 'ModelErrorException', 'failed', 'GenerationFailed'),
  failing('error', 500, 'InternalServerException', 'failed', 'GenerationFailed'),
  failing('access-denied', 403, 'AccessDeniedException', 'credentials', 'ServiceUnavailable'),
  failing('model-missing', 404, 'ResourceNotFoundException', 'credentials', 'ServiceUnavailable'),
  failing('unknown-client', 403, 'UnrecognizedClientException', 'credentials', 'ServiceUnavailable'),
  failing('expired', 403, 'ExpiredTokenException', 'credentials', 'ServiceUnavailable'),
  failing('expired-400', 400, 'ExpiredToken', 'credentials', 'ServiceUnavailable'),
  failing('internal-failure', 500, 'InternalFailure', 'failed', 'GenerationFailed'),
  {
    row: 'unauthenticated',
    says: '401 without a name',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: { status: 401, body: {} },
  },
  {
    row: 'payment',
    says: '402 without a name',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: { status: 402, body: {} },
  },
  {
    row: 'gateway',
    says: '503 of a proxy on the way',
    answers: 'unavailable',
    ends: 'ServiceUnavailable',
    reply: { status: 503, body: '<html>503</html>' },
  },
  failing('other-refusal', 400, 'ValidationException', 'unknown_answer', 'InternalFailure'),
  {
    row: 'empty',
    says: 'no picture',
    answers: 'nothing_rendered',
    ends: 'NothingRendered',
    reply: answered({ seeds: [], finish_reasons: [null], images: [] }),
  },
  {
    row: 'empty-picture',
    says: 'an empty picture',
    answers: 'nothing_rendered',
    ends: 'NothingRendered',
    reply: answered({ seeds: [7], finish_reasons: [null], images: [''] }),
  },
  {
    row: 'no-picture',
    says: 'a text in place of the picture',
    answers: 'rendered',
    ends: 'InternalFailure',
    reply: answered({ seeds: [7], finish_reasons: [null], images: ['PGh0bWw+'] }),
  },
  {
    row: 'unknown-shape',
    says: '200 with a body of another shape',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: answered({ output: ['?'] }),
  },
  {
    row: 'no-json',
    says: '200 with a body that is not JSON',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: { status: 200, body: '<html>' },
  },
  {
    row: 'redirect',
    says: '302 to another host',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: { status: 302, headers: { location: 'https://elsewhere.test/' }, body: '{}' },
  },
  {
    row: 'break',
    says: 'a connection that is closed after the request',
    answers: 'unknown_outcome',
    ends: 'InternalFailure',
    reply: { status: 'break' },
  },
];
