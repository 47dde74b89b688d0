/** The ways in which the fake of OpenAI answers. */
import { type AnsweredRow, reply, type Reply, row } from '../fake-vendor.ts';

export interface OpenaiRow extends AnsweredRow {
  /** Absent: the fake renders a picture. */
  readonly reply?: Reply;
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

export function refused(
  status: number,
  code: string | null,
  param: string | null,
  message: string,
  type = 'invalid_request_error',
): Reply {
  return reply(status, { error: { message, type, param, code } });
}

function moderated(
  moderation_stage: 'input' | 'output',
  category: string,
  param: string | null = null,
): Reply {
  const message = `Your request was rejected by the safety system. If you believe this is an error, contact us at help.openai.com and include the request ID req_0123456789abcdef. safety_violations=[${category}].`;
  const error = { message, type: 'image_generation_user_error', param, code: 'moderation_blocked' };
  return reply(400, {
    error: { ...error, moderation_details: { moderation_stage, categories: [category] } },
  });
}

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
  row('moderation-input', '400 moderation_blocked at the input', 'prompt', {
    reply: moderated('input', 'harassment'),
  }),
  row('moderation-output', '400 moderation_blocked at the output', 'prompt', {
    reply: moderated('output', 'sexual'),
  }),
  row('moderation-source', '400 moderation_blocked that names an image', 'source_image', {
    reply: moderated('input', 'sexual', 'image[0]'),
    sources: 1,
  }),
  row('content-policy', '400 content_policy_violation', 'prompt', {
    reply: refused(
      400,
      'content_policy_violation',
      null,
      'Your request was rejected as a result of our safety system. Your prompt may contain text that is not allowed by our safety system.',
    ),
  }),
  row('bad-source', '400 invalid_image_file', 'source_image', {
    reply: refused(
      400,
      'invalid_image_file',
      '',
      'Invalid image file or mode for image 1, please check your image file.',
      'image_generation_user_error',
    ),
    sources: 1,
  }),
  row('bad-source-field', '400 about the field image[0]', 'source_image', {
    reply: refused(
      400,
      null,
      'image[0]',
      "Invalid file 'image[0]': unsupported mimetype ('image/gif'). Supported file formats are 'image/jpeg', 'image/png', and 'image/webp'.",
    ),
    sources: 1,
  }),
  row('bad-source-text', '400 "Invalid file \'image\'" without a field or a code', 'source_image', {
    reply: refused(
      400,
      null,
      null,
      "Invalid file 'image': unsupported mimetype ('application/octet-stream'). Supported file formats are 'image/png'.",
    ),
    sources: 1,
  }),
  row('too-large', '413', 'source_image', {
    reply: { status: 413, body: '<html>413 Request Entity Too Large</html>' },
    sources: 1,
  }),
  row('throttled', '429 rate_limit_exceeded', 'unavailable', {
    reply: refused(
      429,
      'rate_limit_exceeded',
      null,
      'Rate limit reached for gpt-image-2 in organization org-0123456789 on input-images per min: Limit 20, Used 20, Requested 1. Please try again in 12s.',
      'input-images',
    ),
  }),
  row('quota', '429 insufficient_quota', 'credentials', {
    reply: refused(
      429,
      'insufficient_quota',
      null,
      'You exceeded your current quota, please check your plan and billing details.',
      'insufficient_quota',
    ),
  }),
  row('billing-limit', '400 billing_hard_limit_reached', 'credentials', {
    reply: refused(
      400,
      'billing_hard_limit_reached',
      null,
      'Billing hard limit has been reached.',
      'billing_limit_user_error',
    ),
  }),
  row('key-refused', '401 invalid_api_key', 'credentials', {
    reply: refused(
      401,
      'invalid_api_key',
      null,
      'Incorrect API key provided: sk-proj-********************abcd. You can find your API key at https://platform.openai.com/account/api-keys.',
    ),
  }),
  row('payment', '402', 'credentials', { reply: { status: 402, body: {} } }),
  row('forbidden', '403 because the organization is not verified', 'credentials', {
    reply: refused(
      403,
      null,
      null,
      'Your organization must be verified to use the model `gpt-image-2`. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.',
    ),
  }),
  row('model-missing', '404 model_not_found', 'credentials', {
    reply: refused(
      404,
      'model_not_found',
      'model',
      "The model 'gpt-image-2' does not exist or you do not have access to it.",
    ),
  }),
  row('down', '503 overloaded', 'unavailable', {
    reply: refused(
      503,
      null,
      null,
      'The engine is currently overloaded, please try again later.',
      'server_error',
    ),
  }),
  row('error', '500 server_error', 'failed', {
    reply: refused(
      500,
      'server_error',
      null,
      'The server had an error while processing your request. Sorry about that!',
      'server_error',
    ),
  }),
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
  row('other-refusal', '400 about a field that Darkroom sends', 'unknown_answer', {
    reply: refused(
      400,
      'invalid_value',
      'background',
      'Transparent background is not supported for this model.',
    ),
  }),
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
