/** The ways in which the fake of OpenAI answers. */
import type { RefusalReason } from '../../../../service/contract/failures.ts';
import type { Reply, VendorRow } from '../fake-vendor.ts';

export interface OpenaiRow extends VendorRow {
  /** How the adapter reads this answer. */
  readonly answers: RefusalReason | 'rendered';
  /**
   * Absent: the fake renders a picture. A number is the status of a recorded answer, whose body is in
   * lab/vendors/answers/openai.json.
   */
  readonly reply?: number | Reply;
  /** What the answer with the picture counts. Absent: the tokens of an ordinary request. */
  readonly usage?: object;
}

/** What gpt-image-2 counts for a short prompt and a square picture of 1K in low quality. */
const ordinaryUsage = {
  input_tokens: 14,
  input_tokens_details: { text_tokens: 14, image_tokens: 0 },
  output_tokens: 196,
  output_tokens_details: { image_tokens: 196, text_tokens: 0 },
  total_tokens: 210,
};

export const imageAnswer = (b64_json: string, usage: object = ordinaryUsage): Reply => ({
  status: 200,
  body: { created: 1_795_219_200, data: [{ b64_json }], usage },
});

export const openaiRows: readonly OpenaiRow[] = [
  { row: 'success', says: 'a picture', answers: 'rendered', ends: 'completed' },
  {
    row: 'sources',
    says: 'a picture made from two source images',
    answers: 'rendered',
    ends: 'completed',
    sources: 2,
  },
  {
    row: 'long-prompt',
    says: 'a picture whose prompt costs almost as much as the picture',
    answers: 'rendered',
    ends: 'completed',
    usage: { ...ordinaryUsage, input_tokens_details: { text_tokens: 1_014, image_tokens: 0 } },
  },
  {
    row: 'odd-bill',
    says: 'a picture, and a count of tokens that makes no sense',
    answers: 'rendered',
    ends: 'completed',
    usage: { input_tokens_details: 'many', output_tokens: -1 },
  },
  {
    row: 'moderation-input',
    says: '400 moderation_blocked at the input',
    answers: 'prompt',
    ends: 'PromptRejected',
    reply: 400,
  },
  {
    row: 'moderation-output',
    says: '400 moderation_blocked at the output',
    answers: 'prompt',
    ends: 'PromptRejected',
    reply: 400,
  },
  {
    row: 'moderation-source',
    says: '400 moderation_blocked that names an image',
    answers: 'source_image',
    ends: 'SourceImageRejected',
    reply: 400,
    sources: 1,
  },
  {
    row: 'content-policy',
    says: '400 content_policy_violation',
    answers: 'prompt',
    ends: 'PromptRejected',
    reply: 400,
  },
  {
    row: 'bad-source',
    says: '400 invalid_image_file',
    answers: 'source_image',
    ends: 'SourceImageRejected',
    reply: 400,
    sources: 1,
  },
  {
    row: 'bad-source-field',
    says: '400 about the field image[0]',
    answers: 'source_image',
    ends: 'SourceImageRejected',
    reply: 400,
    sources: 1,
  },
  {
    row: 'bad-source-text',
    says: '400 "Invalid file \'image\'" without a field or a code',
    answers: 'source_image',
    ends: 'SourceImageRejected',
    reply: 400,
    sources: 1,
  },
  {
    row: 'too-large',
    says: '413',
    answers: 'source_image',
    ends: 'SourceImageRejected',
    reply: { status: 413, body: '<html>413 Request Entity Too Large</html>' },
    sources: 1,
  },
  {
    row: 'throttled',
    says: '429 rate_limit_exceeded',
    answers: 'unavailable',
    ends: 'ServiceUnavailable',
    reply: 429,
  },
  {
    row: 'quota',
    says: '429 insufficient_quota',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: 429,
  },
  {
    row: 'billing-limit',
    says: '400 billing_hard_limit_reached',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: 400,
  },
  {
    row: 'key-refused',
    says: '401 invalid_api_key',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: 401,
  },
  {
    row: 'payment',
    says: '402',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: { status: 402, body: {} },
  },
  {
    row: 'forbidden',
    says: '403 because the organization is not verified',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: 403,
  },
  {
    row: 'model-missing',
    says: '404 model_not_found',
    answers: 'credentials',
    ends: 'ServiceUnavailable',
    reply: 404,
  },
  { row: 'down', says: '503 overloaded', answers: 'unavailable', ends: 'ServiceUnavailable', reply: 503 },
  { row: 'error', says: '500 server_error', answers: 'failed', ends: 'GenerationFailed', reply: 500 },
  {
    row: 'gateway',
    says: '502 of a proxy on the way',
    answers: 'failed',
    ends: 'GenerationFailed',
    reply: { status: 502, body: '<html>502 Bad Gateway</html>' },
  },
  {
    row: 'empty',
    says: '200 without a picture',
    answers: 'nothing_rendered',
    ends: 'NothingRendered',
    reply: { status: 200, body: { created: 1_795_219_200, data: [] } },
  },
  {
    row: 'empty-picture',
    says: '200 with an empty picture',
    answers: 'nothing_rendered',
    ends: 'NothingRendered',
    reply: imageAnswer(''),
  },
  {
    row: 'no-picture',
    says: '200 with a text in place of the picture',
    answers: 'rendered',
    ends: 'InternalFailure',
    reply: imageAnswer(Buffer.from('<html>').toString('base64')),
  },
  {
    row: 'other-refusal',
    says: '400 about a field that Darkroom sends',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: 400,
  },
  {
    row: 'unknown-shape',
    says: '200 with a body of another shape',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: { status: 200, body: { output: ['?'] } },
  },
  {
    row: 'redirect',
    says: '302 to another host',
    answers: 'unknown_answer',
    ends: 'InternalFailure',
    reply: { status: 302, headers: { location: 'https://elsewhere.test/' } },
  },
  {
    row: 'break',
    says: 'a connection that is closed after the request',
    answers: 'unknown_outcome',
    ends: 'InternalFailure',
    reply: { status: 'break' },
  },
];
