/**
 * The rules of the servers that an operator runs: own GPUs, and the proxy LiteLLM.
 * service/vendors/compatible/styles.ts names the pages that they are from.
 */
import { commonShape, type Honours, ownQuality, plainFields, type Ways } from '../facts.ts';
import { reply, type Reply, row } from '../fake-vendor.ts';
import { commonRows, sourceRows } from './rows.ts';
import { pixelSize, type ServerRules } from './rules.ts';

/** The servers themselves have no limit but the memory of the GPU. */
const anyPixels = [256 * 256, 4096 * 4096] as const;

const unauthorized = reply(401, { error: 'Unauthorized' });
const badSize = {
  detail: "Invalid size format: '1024x'. Expected format: 'WIDTHxHEIGHT' (e.g., '1024x1024').",
};

/** A server with one model on an own GPU. */
function ownWays(title: string): Ways {
  return {
    ...commonShape,
    'refused prompt': { cannot: `${title} has no moderation.` },
    'refused source': 'too-large',
    throttled: { cannot: `${title} does not throttle. A proxy in front of it does: see Retry-After.` },
  };
}

const ownFields: Honours = {
  ...plainFields,
  negative_prompt: 'honoured',
  quality: ownQuality,
  mask_url: {
    refused:
      'It depends on the model behind the server: an operator names the part of the form for the mask.',
  },
};

export const vllmOmni: ServerRules = {
  key: null,
  generations: '/v1/images/generations',
  edits: '/v1/images/edits',
  check: '/v1/models',
  // The server forwards the fields that it does not know to the pipeline, which ignores them.
  fields: null,
  values: { n: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], response_format: ['b64_json', 'file'] },
  models: { 'Qwen/Qwen-Image': [] },
  mostPrompt: 32_000,
  sizeOf: ({ size = '1024x1024' }) => pixelSize(size, anyPixels),
  formatOf: () => 'png',
  sources: 'form',
  sourceParts: ['image'],
  mostSources: 3,
  refuse: (status, about) =>
    reply(
      status,
      about === 'size'
        ? badSize
        : { detail: [{ loc: ['body', about], msg: 'invalid', type: 'value_error' }] },
    ),
  keyRefused: unauthorized,
  picture: (data) => ({ created: 1_701_234_567, data: [{ url: null, ...data, revised_prompt: null }] }),
  rows: [
    ...commonRows(
      reply(500, { detail: 'Image generation failed: CUDA out of memory.' }),
      reply(503, { detail: 'Diffusion engine not initialized. Start server with a diffusion model.' }),
    ),
    ...sourceRows,
    row('key-refused', '401', 'credentials', { reply: unauthorized }),
    row('model-missing', '404', 'credentials', {
      reply: reply(404, {
        error: {
          message: 'The model `other` does not exist.',
          type: 'NotFoundError',
          param: 'model',
          code: 404,
        },
      }),
    }),
    row('bad-size', '400 with a detail', 'unknown_answer', { reply: reply(400, badSize) }),
    row('validation', '422', 'unknown_answer', {
      reply: reply(422, {
        detail: [{ loc: ['body', 'prompt'], msg: 'field required', type: 'value_error.missing' }],
      }),
    }),
  ],
  ways: ownWays('vLLM-Omni'),
  honours: ownFields,
};

export const sglang: ServerRules = {
  ...vllmOmni,
  values: {
    response_format: ['b64_json', 'url'],
    output_format: ['png', 'jpeg', 'webp'],
  },
  formatOf: ({ output_format: format }) => (format === 'jpeg' || format === 'webp' ? format : 'png'),
  sourceParts: ['image', 'image[]'],
  refuse: (status, about) => reply(status, { detail: `${about} is not supported` }),
  picture: (data) => ({
    id: 'c1b1',
    created: 1_795_219_200,
    data: [{ url: null, ...data, revised_prompt: '', file_path: null }],
    peak_memory_mb: 30012.5,
    inference_time_s: 4.2,
  }),
  rows: [
    ...commonRows(
      reply(500, { detail: 'Internal Server Error' }),
      reply(503, { detail: 'The server is not ready.' }),
    ),
    ...sourceRows,
    row('key-refused', '401', 'credentials', { reply: unauthorized }),
    row('bad-format', '400 with a detail', 'unknown_answer', {
      reply: reply(400, { detail: 'response_format=file is not supported' }),
    }),
    row('validation', '422', 'unknown_answer', {
      reply: reply(422, { detail: [{ type: 'missing', loc: ['body', 'prompt'], msg: 'Field required' }] }),
    }),
  ],
  ways: ownWays('SGLang'),
};

function localaiError(code: number, message: string): Reply {
  return reply(code, { error: { code, message, type: '' } });
}
const wrongLocalaiKey = localaiError(401, 'An authentication key is required');

export const localai: ServerRules = {
  ...vllmOmni,
  key: 'fake-localai-key',
  edits: '/v1/images/generations',
  values: { response_format: ['b64_json', 'url'] },
  sources: ({ ref_images: images }) => {
    const texts: readonly unknown[] = Array.isArray(images) ? images : [];
    return texts.every((text): text is string => typeof text === 'string' && /^[\w+/=]+$/.test(text))
      ? texts.map((text) => Buffer.from(text, 'base64'))
      : undefined;
  },
  sourceParts: [],
  refuse: (status, about) => localaiError(status, `invalid value for '${about}'`),
  keyRefused: wrongLocalaiKey,
  picture: (data) => ({
    created: 1_795_219_200,
    id: '0f1c',
    data: [{ embedding: null, index: 0, ...data }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  }),
  rows: [
    ...commonRows(
      localaiError(500, 'could not load model: rpc error: code = Unavailable'),
      localaiError(503, 'the backend is busy'),
    ),
    ...sourceRows,
    row('key-refused', '401', 'credentials', { reply: wrongLocalaiKey }),
    row('model-missing', '404', 'credentials', { reply: localaiError(404, 'model not found') }),
    row('bad-size', '400', 'unknown_answer', { reply: localaiError(400, "invalid value for 'size'") }),
  ],
  ways: ownWays('LocalAI'),
  honours: {
    ...ownFields,
    negative_prompt: { refused: 'A "|" in the prompt begins it, so a text of the client could end it.' },
    mask_url: { refused: 'Its edits are JSON, which has no place for a mask.' },
  },
};

function litellmError(
  status: number,
  message: string,
  type: string | null = null,
  code = String(status),
): Reply {
  return reply(status, { error: { message, type, param: null, code } });
}
const wrongLitellmKey = litellmError(
  401,
  'Authentication Error, Invalid proxy server token passed.',
  'auth_error',
);

export const litellm: ServerRules = {
  ...vllmOmni,
  key: 'fake-litellm-key',
  fields: ['model', 'prompt', 'n', 'size', 'quality', 'background', 'output_format'],
  values: {
    n: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    quality: ['low', 'medium', 'high'],
    background: ['opaque', 'transparent'],
    output_format: ['png', 'jpeg', 'webp'],
  },
  models: { 'my-image-model': [] },
  formatOf: sglang.formatOf,
  sourceParts: ['image', 'image[]'],
  maskPart: 'mask',
  headers: { 'x-litellm-response-cost': '0.0123' },
  refuse: (status, about) =>
    litellmError(status, `litellm.UnsupportedParamsError: Setting \`${about}\` is not supported.`),
  keyRefused: wrongLitellmKey,
  picture: (data) => ({
    created: 1_795_219_200,
    data: [{ url: null, ...data, revised_prompt: null }],
    usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
  }),
  rows: [
    ...commonRows(
      litellmError(500, 'litellm.APIConnectionError: upstream failed'),
      litellmError(503, 'litellm.ServiceUnavailableError: upstream is down'),
    ),
    ...sourceRows,
    row('throttled', '429', 'unavailable', {
      reply: litellmError(
        429,
        'litellm.RateLimitError: No deployments available for selected model.',
        'throttling_error',
      ),
    }),
    row('address', 'a picture at an address of the proxy', 'rendered', { reply: 'address' }),
    row('elsewhere', 'a picture at an address of another host', 'unknown_answer', {
      reply: {
        status: 200,
        body: { data: [{ b64_json: null, url: 'https://elsewhere.test/picture.png' }] },
      },
    }),
    row('cut-out', 'a transparent picture', 'rendered', { fields: { background: 'transparent' } }),
    row('opaque-instead', 'an opaque picture for a transparent background', 'rendered', {
      fields: { background: 'transparent' },
      ends: 'NothingRendered',
    }),
    row('masked', 'a picture that keeps what the mask protects', 'rendered', { sources: 1, isMasked: true }),
    row('mask-ignored', 'a picture that is painted anew in spite of the mask', 'rendered', {
      sources: 1,
      isMasked: true,
      ends: 'NothingRendered',
    }),
    row('policy', '400 content_policy_violation', 'prompt', {
      reply: litellmError(
        400,
        'litellm.BadRequestError: OpenAIException - Your request was rejected by the safety system.',
        null,
        'content_policy_violation',
      ),
    }),
    row('policy-text', '400 litellm.ContentPolicyViolationError', 'prompt', {
      reply: litellmError(400, 'litellm.ContentPolicyViolationError: Response output was blocked.'),
    }),
    row('budget', '400 budget_exceeded', 'credentials', {
      reply: litellmError(
        400,
        'Budget has been exceeded! Current cost: 10.1, Max budget: 10.0',
        'budget_exceeded',
      ),
    }),
    row('key-refused', '401', 'credentials', { reply: wrongLitellmKey }),
    row('model-missing', '404', 'credentials', {
      reply: litellmError(404, 'image_generation: Invalid model name passed in model=other'),
    }),
    row('other-refusal', '400 about a field that Darkroom sends', 'unknown_answer', {
      reply: litellmError(400, 'litellm.UnsupportedParamsError: Setting `quality` is not supported.'),
    }),
  ],
  ways: {
    ...commonShape,
    'refused prompt': 'policy',
    'refused source': 'too-large',
    'out of credit': 'budget',
    'download broken': { cannot: 'Not in this table: the adapter test breaks a download of the style.' },
  },
  honours: {
    negative_prompt: {
      refused: 'It depends on the model behind the proxy: an operator names the field.',
    },
    quality: 'honoured',
    background: 'honoured',
    mask_url: 'honoured',
  },
};
