/**
 * The rules of the servers that an operator runs: own GPUs, and the proxy LiteLLM.
 * service/vendors/compatible/styles.ts names the pages that they are from.
 */
import { commonShape, type Honours, ownQuality, plainFields, type Ways } from '../facts.ts';
import { recordedAnswer } from '../fake-vendor.ts';
import { commonRows, row, sourceRows, throttledRow } from './rows.ts';
import { pixelSize, type ServerRules } from './vendors.ts';

/** The servers themselves have no limit but the memory of the GPU. */
const anyPixels = [256 * 256, 4096 * 4096] as const;

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
  answers: 'vllm-omni',
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
  refuse: (status, about) => ({
    status,
    body:
      about === 'size'
        ? recordedAnswer('vllm-omni', 'bad-size')
        : { detail: [{ loc: ['body', about], msg: 'invalid', type: 'value_error' }] },
  }),
  rows: [
    ...commonRows,
    ...sourceRows,
    row('key-refused', '401', 'credentials', 401),
    row('model-missing', '404', 'credentials', 404),
    row('bad-size', '400 with a detail', 'unknown_answer', 400),
    row('validation', '422', 'unknown_answer', 422),
  ],
  ways: ownWays('vLLM-Omni'),
  honours: ownFields,
};

export const sglang: ServerRules = {
  ...vllmOmni,
  answers: 'sglang',
  values: {
    response_format: ['b64_json', 'url'],
    output_format: ['png', 'jpeg', 'webp'],
  },
  formatOf: ({ output_format: format }) => (format === 'jpeg' || format === 'webp' ? format : 'png'),
  sourceParts: ['image', 'image[]'],
  refuse: (status, about) => ({ status, body: { detail: `${about} is not supported` } }),
  rows: [
    ...commonRows,
    ...sourceRows,
    row('key-refused', '401', 'credentials', 401),
    row('bad-format', '400 with a detail', 'unknown_answer', 400),
    row('validation', '422', 'unknown_answer', 422),
  ],
  ways: ownWays('SGLang'),
};

export const localai: ServerRules = {
  ...vllmOmni,
  answers: 'localai',
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
  refuse: (status, about) => ({
    status,
    body: { error: { code: status, message: `invalid value for '${about}'`, type: '' } },
  }),
  rows: [
    ...commonRows,
    ...sourceRows,
    row('key-refused', '401', 'credentials', 401),
    row('model-missing', '404', 'credentials', 404),
    row('bad-size', '400', 'unknown_answer', 400),
  ],
  ways: ownWays('LocalAI'),
  honours: {
    ...ownFields,
    negative_prompt: { refused: 'A "|" in the prompt begins it, so a text of the client could end it.' },
    mask_url: { refused: 'Its edits are JSON, which has no place for a mask.' },
  },
};

export const litellm: ServerRules = {
  ...vllmOmni,
  answers: 'litellm',
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
  refuse: (status, about) => ({
    status,
    body: {
      error: {
        message: `litellm.UnsupportedParamsError: Setting \`${about}\` is not supported.`,
        type: null,
        param: null,
        code: String(status),
      },
    },
  }),
  rows: [
    ...commonRows,
    ...sourceRows,
    throttledRow,
    row('address', 'a picture at an address of the proxy', 'rendered', 'address'),
    row('elsewhere', 'a picture at an address of another host', 'unknown_answer', {
      status: 200,
      body: { data: [{ b64_json: null, url: 'https://elsewhere.test/picture.png' }] },
    }),
    { ...row('cut-out', 'a transparent picture', 'rendered'), fields: { background: 'transparent' } },
    {
      ...row('opaque-instead', 'an opaque picture for a transparent background', 'rendered'),
      fields: { background: 'transparent' },
      ends: 'NothingRendered',
    },
    {
      ...row('masked', 'a picture that keeps what the mask protects', 'rendered', undefined, 1),
      isMasked: true,
    },
    {
      ...row('mask-ignored', 'a picture that is painted anew in spite of the mask', 'rendered', undefined, 1),
      isMasked: true,
      ends: 'NothingRendered',
    },
    row('policy', '400 content_policy_violation', 'prompt', 400),
    row('policy-text', '400 litellm.ContentPolicyViolationError', 'prompt', 400),
    row('budget', '400 budget_exceeded', 'credentials', 400),
    row('key-refused', '401', 'credentials', 401),
    row('model-missing', '404', 'credentials', 404),
    row('other-refusal', '400 about a field that Darkroom sends', 'unknown_answer', 400),
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
