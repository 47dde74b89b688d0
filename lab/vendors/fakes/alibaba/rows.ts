/** The ways in which the fake of Alibaba answers. */
import { type AnsweredRow, reply, type Reply, row } from '../fake-vendor.ts';

interface AlibabaRow extends AnsweredRow {
  /** The answer to the submission. Absent: the fake renders a picture. */
  readonly reply?: Reply;
  /** The answers to the downloads in turn, before the picture. */
  readonly downloads?: readonly Reply[];
}

export const requestId = '3c5761be-2e87-94cd-bb3f-ed8251ad7f51';
export const badSource = refused(
  400,
  'InvalidParameter.DataInspection',
  'Unable to download the media resource during the data inspection process.',
);
const elsewhere: Reply = { status: 302, headers: { location: 'https://elsewhere.test/' } };

export function refused(status: number, code: string, message: string): Reply {
  return reply(status, { request_id: requestId, code, message });
}

function choosing(...choices: readonly object[]): Reply {
  return reply(200, { output: { choices } });
}

export const alibabaRows: readonly AlibabaRow[] = [
  row('success', 'the address of a picture', 'rendered'),
  row('sources', 'a picture made from two source images', 'rendered', { sources: 2 }),
  row('inspection-input', '400 DataInspectionFailed at the input', 'prompt', {
    reply: refused(400, 'DataInspectionFailed', 'Input data may contain inappropriate content.'),
  }),
  row('inspection-output', '400 DataInspectionFailed at the output', 'prompt', {
    reply: refused(400, 'DataInspectionFailed', 'Output data may contain inappropriate content.'),
  }),
  row('infringement', '400 IPInfringementSuspect', 'prompt', {
    reply: refused(
      400,
      'IPInfringementSuspect',
      'Input data is suspected of being involved in IP infringement.',
    ),
  }),
  row('bad-source', '400 InvalidParameter.DataInspection', 'source_image', { sources: 1, reply: badSource }),
  row('too-large', '413', 'source_image', {
    sources: 1,
    reply: reply(413, '<html>413 Request Entity Too Large</html>'),
  }),
  row('throttled', '429 Throttling.RateQuota', 'unavailable', {
    reply: refused(429, 'Throttling.RateQuota', 'Requests rate limit exceeded, please try again later.'),
  }),
  row('quota', '429 Throttling.AllocationQuota', 'unavailable', {
    reply: refused(
      429,
      'Throttling.AllocationQuota',
      'Allocated quota exceeded, please increase your quota limit.',
    ),
  }),
  row('arrearage', '400 Arrearage', 'credentials', {
    reply: refused(400, 'Arrearage', 'Access denied, please make sure your account is in good standing.'),
  }),
  row('free-tier', '403 AllocationQuota.FreeTierOnly', 'credentials', {
    reply: refused(403, 'AllocationQuota.FreeTierOnly', 'The free tier of the model has been exhausted.'),
  }),
  row('key-refused', '401 InvalidApiKey', 'credentials', {
    reply: refused(401, 'InvalidApiKey', 'Invalid API-key provided.'),
  }),
  row('payment', '402', 'credentials', { reply: { status: 402, body: {} } }),
  row('forbidden', '403 AccessDenied.Unpurchased', 'credentials', {
    reply: refused(
      403,
      'AccessDenied.Unpurchased',
      'Access to model denied. Please make sure you are eligible for using the model.',
    ),
  }),
  row('model-missing', '404 ModelNotFound', 'credentials', {
    reply: refused(404, 'ModelNotFound', 'The model qwen-image-9 does not exist.'),
  }),
  row('down', '503 ServiceUnavailable', 'unavailable', {
    reply: refused(503, 'ServiceUnavailable', 'The service is temporarily unavailable.'),
  }),
  row('error', '500 InternalError.Algo', 'failed', {
    reply: refused(500, 'InternalError.Algo', 'inference internal error'),
  }),
  row('timed-out', '500 InternalError.Timeout', 'timed_out', {
    reply: refused(
      500,
      'InternalError.Timeout',
      'An internal timeout error has occurred during execution, please try again later or contact service support.',
    ),
  }),
  row('gateway-late', '504 of a proxy on the way', 'timed_out', {
    reply: reply(504, '<html>504 Gateway Timeout</html>'),
  }),
  row('gateway', '502 of a proxy on the way', 'failed', {
    reply: reply(502, '<html>502 Bad Gateway</html>'),
  }),
  row('error-in-success', '200 with the code of an error', 'unknown_answer', {
    reply: refused(
      200,
      'InternalError',
      'An internal error has occurred, please try again later or contact service support.',
    ),
  }),
  row('empty', '200 without a choice', 'nothing_rendered', {
    reply: choosing(),
  }),
  row('text-only', '200 with a text in place of the picture', 'nothing_rendered', {
    reply: choosing({ finish_reason: 'stop', message: { content: [{ text: 'No.' }] } }),
  }),
  row('empty-picture', 'a picture of no bytes', 'nothing_rendered', {
    downloads: [reply(200, '')],
  }),
  row('no-picture', 'a page in place of the picture', 'rendered', {
    ends: 'InternalFailure',
    downloads: [reply(200, '<html>')],
  }),
  row('other-refusal', '400 InvalidParameter', 'unknown_answer', {
    reply: refused(400, 'InvalidParameter', 'parameters.size is invalid.'),
  }),
  row('unknown-shape', '200 with a body of another shape', 'unknown_answer', {
    reply: reply(200, { data: ['?'] }),
  }),
  row('foreign-picture', 'a picture on another host', 'unknown_answer', {
    reply: choosing({
      message: { content: [{ image: 'https://oss-accelerate.aliyuncs.com.example.com/a.png' }] },
    }),
  }),
  row('picture-expired', '403 in place of the picture', 'unknown_answer', {
    downloads: [reply(403, '<Error><Code>AccessDenied</Code></Error>')],
  }),
  row('picture-moved', '302 in place of the picture', 'unknown_answer', {
    downloads: [elsewhere],
  }),
  row('redirect', '302 to another host', 'unknown_answer', {
    reply: elsewhere,
  }),
  row('break', 'a connection that is closed after the request', 'unknown_outcome', {
    reply: { status: 'break' },
  }),
  row('download-broke', 'the connection of the first download is closed', 'rendered', {
    downloads: [{ status: 'break' }],
  }),
  row('download-down', '503 to the first download', 'rendered', { downloads: [{ status: 503 }] }),
];
