/** The ways in which the fake of OpenAI answers. */
import { type AnsweredRow, type Reply, row } from '../fake-vendor.ts';

export interface OpenaiRow extends AnsweredRow {
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

/** GPT Image 2 renders no transparent backgrounds. */
const cutOut = { model: 'gpt-image-2.5-flare-low', background: 'transparent' };

export const openaiRows: readonly OpenaiRow[] = [
  row('success', 'a picture', 'rendered'),
  row('sources', 'a picture made from two source images', 'rendered', { sources: 2 }),
  row('long-prompt', 'a picture whose prompt costs almost as much as the picture', 'rendered', {
    usage: { ...ordinaryUsage, input_tokens_details: { text_tokens: 1_014, image_tokens: 0 } },
  }),
  row('odd-bill', 'a picture, and a count of tokens that makes no sense', 'rendered', {
    usage: { input_tokens_details: 'many', output_tokens: -1 },
  }),
  row('cut-out', 'a transparent picture', 'rendered', { fields: cutOut }),
  row('cut-out-webp', 'a transparent WebP', 'rendered', { fields: { ...cutOut, output_format: 'webp' } }),
  row('opaque-instead', 'an opaque picture for a transparent background', 'rendered', {
    fields: cutOut,
    ends: 'NothingRendered',
  }),
  row('transparent-instead', 'a transparent picture for an opaque background', 'rendered', {
    fields: { background: 'opaque' },
    ends: 'NothingRendered',
  }),
  row('moderation-input', '400 moderation_blocked at the input', 'prompt', { reply: 400 }),
  row('moderation-output', '400 moderation_blocked at the output', 'prompt', { reply: 400 }),
  row('moderation-source', '400 moderation_blocked that names an image', 'source_image', {
    reply: 400,
    sources: 1,
  }),
  row('content-policy', '400 content_policy_violation', 'prompt', { reply: 400 }),
  row('bad-source', '400 invalid_image_file', 'source_image', { reply: 400, sources: 1 }),
  row('bad-source-field', '400 about the field image[0]', 'source_image', { reply: 400, sources: 1 }),
  row('bad-source-text', '400 "Invalid file \'image\'" without a field or a code', 'source_image', {
    reply: 400,
    sources: 1,
  }),
  row('too-large', '413', 'source_image', {
    reply: { status: 413, body: '<html>413 Request Entity Too Large</html>' },
    sources: 1,
  }),
  row('throttled', '429 rate_limit_exceeded', 'unavailable', { reply: 429 }),
  row('quota', '429 insufficient_quota', 'credentials', { reply: 429 }),
  row('billing-limit', '400 billing_hard_limit_reached', 'credentials', { reply: 400 }),
  row('key-refused', '401 invalid_api_key', 'credentials', { reply: 401 }),
  row('payment', '402', 'credentials', { reply: { status: 402, body: {} } }),
  row('forbidden', '403 because the organization is not verified', 'credentials', { reply: 403 }),
  row('model-missing', '404 model_not_found', 'credentials', { reply: 404 }),
  row('down', '503 overloaded', 'unavailable', { reply: 503 }),
  row('error', '500 server_error', 'failed', { reply: 500 }),
  row('gateway', '502 of a proxy on the way', 'failed', {
    reply: { status: 502, body: '<html>502 Bad Gateway</html>' },
  }),
  row('empty', '200 without a picture', 'nothing_rendered', {
    reply: { status: 200, body: { created: 1_795_219_200, data: [] } },
  }),
  row('empty-picture', '200 with an empty picture', 'nothing_rendered', { reply: imageAnswer('') }),
  row('no-picture', '200 with a text in place of the picture', 'rendered', {
    ends: 'InternalFailure',
    reply: imageAnswer(Buffer.from('<html>').toString('base64')),
  }),
  row('other-refusal', '400 about a field that Darkroom sends', 'unknown_answer', { reply: 400 }),
  row('unknown-shape', '200 with a body of another shape', 'unknown_answer', {
    reply: { status: 200, body: { output: ['?'] } },
  }),
  row('redirect', '302 to another host', 'unknown_answer', {
    reply: { status: 302, headers: { location: 'https://elsewhere.test/' } },
  }),
  row('break', 'a connection that is closed after the request', 'unknown_outcome', {
    reply: { status: 'break' },
  }),
];
