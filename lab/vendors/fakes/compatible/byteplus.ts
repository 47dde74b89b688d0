/** The rules of BytePlus. service/vendors/compatible/styles.ts names the pages that they are from. */
import { commonShape, onlyJpeg, plainFields } from '../facts.ts';
import { type Fields, reply, type Reply, row } from '../fake-vendor.ts';
import { commonRows, sourceRows } from './rows.ts';
import { bytesOfUris, pixelSize, type ServerRules } from './rules.ts';

const lessPixels = [3_686_400, 16_777_216] as const;
const pixelsOfSeedream: Readonly<Record<string, readonly [number, number]>> = {
  'seedream-4-5-251128': lessPixels,
  'seedream-5-0-lite-260128': lessPixels,
  'dola-seedream-5-0-pro-260628': [921_600, 4_624_220],
};

function refused(status: number, code: string, type: string, message: string, param = ''): Reply {
  return reply(status, { error: { code, message: `${message} Request id: 0217889771718`, param, type } });
}

const wrongKey = refused(
  401,
  'AuthenticationError',
  'Unauthorized',
  'The API key or AK/SK in the request is missing or invalid.',
);

function answered(data: Fields, generated_images: number): Fields {
  const tokens = 4_096 * generated_images;
  const usage = { generated_images, output_tokens: tokens, total_tokens: tokens };
  return { model: 'dola-seedream-5-0-pro-260628', created: 1_795_219_200, data: [data], usage };
}

const withheld = {
  code: 'OutputImageSensitiveContentDetected',
  message: 'The output image may contain sensitive information.',
};

export const byteplus: ServerRules = {
  key: 'fake-byteplus-key',
  generations: '/api/v3/images/generations',
  edits: '/api/v3/images/generations',
  check: '/api/v3/models',
  fields: [
    'model',
    'prompt',
    'image',
    'size',
    'response_format',
    'watermark',
    'stream',
    'sequential_image_generation',
    'output_format',
  ],
  values: { response_format: ['url', 'b64_json'], watermark: [true, false], output_format: ['png', 'jpeg'] },
  models: {
    'seedream-4-5-251128': ['output_format'],
    'seedream-5-0-lite-260128': [],
    'dola-seedream-5-0-pro-260628': ['stream', 'sequential_image_generation'],
  },
  mostPrompt: 4_000,
  sizeOf: ({ size, model }) => pixelSize(size, pixelsOfSeedream[String(model)] ?? [0, 0]),
  formatOf: ({ output_format: format }) => (format === 'png' ? 'png' : 'jpeg'),
  sources: ({ image }) => bytesOfUris(Array.isArray(image) ? image : [image]),
  sourceParts: [],
  mostSources: 14,
  refuse: (status, about) =>
    refused(
      status,
      'InvalidParameter',
      'BadRequest',
      `The parameter \`${about}\` specified in the request is not valid.`,
      about,
    ),
  keyRefused: wrongKey,
  picture: (data, size) => answered({ ...data, size }, 1),
  rows: [
    ...commonRows(
      refused(
        500,
        'InternalServiceError',
        'InternalServerError',
        'The service encountered an unexpected internal error.',
      ),
      refused(503, 'ServiceUnavailable', 'ServiceUnavailable', 'The service is unavailable.'),
    ),
    ...sourceRows,
    row('throttled', '429', 'unavailable', {
      reply: refused(
        429,
        'ModelAccountIpmRateLimitExceeded',
        'TooManyRequests',
        'The images per minute limit of the account is exceeded.',
      ),
    }),
    row('overloaded', '429 ServerOverloaded', 'unavailable', {
      reply: refused(
        429,
        'ServerOverloaded',
        'TooManyRequests',
        'The service is currently unable to handle additional requests.',
      ),
    }),
    row('sensitive-text', '400 InputTextSensitiveContentDetected', 'prompt', {
      reply: refused(
        400,
        'InputTextSensitiveContentDetected',
        'BadRequest',
        'The request failed because the input text may contain sensitive information.',
      ),
    }),
    row('violence', '400 SensitiveContentDetected.Violence', 'prompt', {
      reply: refused(
        400,
        'SensitiveContentDetected.Violence',
        'BadRequest',
        'The request failed because the input text may contain violence information.',
      ),
    }),
    row('sensitive-output', '400 OutputImageSensitiveContentDetected', 'prompt', {
      reply: refused(
        400,
        'OutputImageSensitiveContentDetected',
        'BadRequest',
        'The request failed because the output image may contain sensitive information.',
      ),
    }),
    row('error-in-success', '200 with the error of the picture', 'prompt', {
      reply: reply(200, answered({ error: withheld }, 0)),
    }),
    row('sensitive-source', '400 InputImageSensitiveContentDetected', 'source_image', {
      reply: refused(
        400,
        'InputImageSensitiveContentDetected.PrivacyInformation',
        'BadRequest',
        'The request failed because the input image may contain real person.',
      ),
      sources: 1,
    }),
    row('bad-source', '400 about the field image', 'source_image', {
      reply: refused(
        400,
        'InvalidParameter',
        'BadRequest',
        'The parameter `image` specified in the request is not valid: invalid image.',
        'image',
      ),
      sources: 1,
    }),
    row('key-refused', '401 AuthenticationError', 'credentials', { reply: wrongKey }),
    row('overdue', '403 AccountOverdueError', 'credentials', {
      reply: refused(
        403,
        'AccountOverdueError',
        'Forbidden',
        'The request failed because your account has an overdue balance.',
      ),
    }),
    row('model-closed', '404 ModelNotOpen', 'credentials', {
      reply: refused(
        404,
        'ModelNotOpen',
        'NotFound',
        'Your account 2100000001 has not activated the model seedream-5-0-pro.',
      ),
    }),
    row('limit-set', '429 SetLimitExceeded', 'credentials', {
      reply: refused(
        429,
        'SetLimitExceeded',
        'TooManyRequests',
        'Your account has reached the set inference limit, and the model service has been paused.',
      ),
    }),
    row('other-refusal', '400 about a field that Darkroom sends', 'unknown_answer', {
      reply: refused(
        400,
        'InvalidParameter',
        'BadRequest',
        'The parameter `size` specified in the request is not valid.',
        'size',
      ),
    }),
  ],
  ways: {
    ...commonShape,
    'refused prompt': 'sensitive-text',
    'refused source': 'bad-source',
    'out of credit': 'overdue',
  },
  honours: { ...plainFields, background: onlyJpeg },
};
