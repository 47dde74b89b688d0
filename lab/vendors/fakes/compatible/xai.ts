/** The rules of xAI. service/vendors/compatible/styles.ts names the pages that they are from. */
import { commonShape, onlyJpeg, plainFields } from '../facts.ts';
import { type Fields, fieldsOf, reply, type Reply, row } from '../fake-vendor.ts';
import { commonRows } from './rows.ts';
import { bytesOfUris, type ServerRules, sizeOfRatio } from './rules.ts';

/** Ticks of a picture by model, quality and resolution. */
function ticksOf({ model, quality = 'medium', resolution = '1k' }: Fields): number {
  if (model === 'grok-imagine-image') return 200_000_000;
  return (quality === 'low' ? 400_000_000 : 600_000_000) + (resolution === '2k' ? 200_000_000 : 0);
}

const invalidArgument = 'Client specified an invalid argument';
const notPermitted = 'The caller does not have permission to execute the specified operation';
const wrongKey = refused(
  401,
  invalidArgument,
  'Incorrect API key provided: fa***ey. You can obtain an API key from https://console.x.ai.',
);
const moderated = {
  error: 'Generated image rejected by content moderation.',
  usage: { cost_in_usd_ticks: 200_000_000 },
};

function refused(status: number, code: string, error: string): Reply {
  return reply(status, { code, error });
}

function answered(data: Fields, respect_moderation: boolean): Fields {
  return {
    data: [{ ...data, mime_type: 'image/jpeg', revised_prompt: '', respect_moderation }],
    usage: moderated.usage,
  };
}

export const xai: ServerRules = {
  key: 'fake-xai-key',
  generations: '/v1/images/generations',
  edits: '/v1/images/edits',
  check: '/v1/models',
  fields: [
    'model',
    'prompt',
    'n',
    'response_format',
    'aspect_ratio',
    'resolution',
    'quality',
    'user',
    'image',
    'images',
  ],
  values: {
    n: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    response_format: ['url', 'b64_json'],
    resolution: ['1k', '2k'],
    quality: ['low', 'medium'],
    aspect_ratio: ['1:1', '3:2', '2:3', '4:3', '3:4', '16:9', '9:16', '2:1', '1:2', 'auto'],
  },
  models: { 'grok-imagine-image': ['quality'], 'grok-imagine-image-2.0': [] },
  mostPrompt: 5_000,
  sizeOf: ({ aspect_ratio: ratio, resolution }) => sizeOfRatio(ratio, resolution === '2k' ? 2 : 1),
  formatOf: () => 'jpeg',
  sources: ({ image, images }) => {
    const objects = Array.isArray(images) ? images.map(fieldsOf) : [fieldsOf(image)];
    return objects.every(({ type }) => type === 'image_url')
      ? bytesOfUris(objects.map(({ url }) => url))
      : undefined;
  },
  sourceParts: [],
  mostSources: 3,
  refuse: (status, about) => refused(status, invalidArgument, `Argument not supported: ${about}`),
  keyRefused: wrongKey,
  picture: (data) => answered(data, true),
  more: (fields) => ({ usage: { cost_in_usd_ticks: ticksOf(fields) } }),
  rows: [
    ...commonRows(
      refused(500, 'Internal error', 'Internal error'),
      refused(503, 'The service is currently unavailable', 'The service is currently unavailable.'),
    ),
    row('throttled', '429', 'unavailable', {
      reply: refused(
        429,
        'Some resource has been exhausted',
        'Too many requests for team. Your rate limit is: 5 requests per second.',
      ),
    }),
    row('moderated', '400 imagine:content-moderated', 'prompt', {
      reply: reply(400, { ...moderated, code: 'imagine:content-moderated' }),
    }),
    row('moderated-text', '400 with the same words and an older code', 'prompt', {
      reply: reply(400, { ...moderated, code: invalidArgument }),
    }),
    row('disrespected', '200 with respect_moderation false', 'prompt', {
      reply: reply(200, answered({ b64_json: '' }, false)),
    }),
    row('guidelines', '403 because the prompt violates the guidelines', 'prompt', {
      reply: refused(
        403,
        notPermitted,
        'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO',
      ),
    }),
    row('credits', '403 because no credits are left', 'credentials', {
      reply: refused(403, notPermitted, "Your newly created team doesn't have any credits or licenses yet."),
    }),
    row('key-refused', '400 about the key', 'credentials', { reply: { ...wrongKey, status: 400 } }),
    row('model-missing', '404', 'credentials', {
      reply: refused(
        404,
        'Some requested entity was not found',
        'The model grok-imagine does not exist or your team does not have access to it.',
      ),
    }),
    row('other-refusal', '400 about a field that Darkroom sends', 'unknown_answer', {
      reply: refused(400, invalidArgument, 'Argument not supported: size'),
    }),
  ],
  ways: {
    ...commonShape,
    'refused prompt': 'moderated',
    'refused source': {
      cannot: 'Not verified: how xAI refuses a source image. Its answer about the field raises an alarm.',
    },
    'out of credit': 'credits',
  },
  honours: { ...plainFields, quality: 'honoured', background: onlyJpeg },
};
