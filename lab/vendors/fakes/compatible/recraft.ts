/** The rules of Recraft. service/vendors/compatible/styles.ts names the pages that they are from. */
import { commonShape, noSources, plainFields } from '../facts.ts';
import { reply, type Reply, row } from '../fake-vendor.ts';
import { commonRows } from './rows.ts';
import { type ServerRules, sizeOfRatio } from './rules.ts';

const unitsOf: Readonly<Record<string, number>> = {
  recraftv4_1_flash: 7,
  recraftv4_1: 35,
  recraftv4_1_pro: 210,
};

function refused(status: number, code: string, message: string): Reply {
  return reply(status, { code, message });
}

const wrongKey = refused(401, 'unauthorized', 'Unauthorized');

export const recraft: ServerRules = {
  key: 'fake-recraft-key',
  generations: '/v1/images/generations',
  edits: null,
  check: '/v1/users/me',
  fields: ['model', 'prompt', 'n', 'size', 'response_format', 'image_format'],
  values: { n: [1, 2, 3, 4, 5, 6], response_format: ['url', 'b64_json'], image_format: ['png', 'webp'] },
  models: { recraftv4_1_flash: [], recraftv4_1: [], recraftv4_1_pro: [] },
  mostPrompt: 10_000,
  sizeOf: ({ size, model }) => sizeOfRatio(size, model === 'recraftv4_1_pro' ? 2 : 1),
  formatOf: ({ image_format: format }) => (format === 'webp' ? 'webp' : 'png'),
  sources: null,
  sourceParts: [],
  mostSources: 0,
  refuse: (status, about) => refused(status, 'invalid_request_parameter', `${about} is not supported`),
  keyRefused: wrongKey,
  picture: (data) => ({
    created: 1_795_219_200,
    credits: 35,
    data: [{ image_id: 'a1f2c8d4-1234-4abc-9def-1111111111aa', ...data, revised_prompt: '' }],
  }),
  more: ({ model }) => ({ credits: unitsOf[String(model)] }),
  rows: [
    ...commonRows(
      refused(500, 'internal_error', 'Internal error'),
      refused(503, 'unavailable', 'Service unavailable'),
    ),
    row('throttled', '429', 'unavailable', {
      reply: refused(429, 'rate_limit_exceeded', 'Too many requests'),
    }),
    row('improper', '400 prompt_is_improper', 'prompt', {
      reply: refused(400, 'prompt_is_improper', 'The prompt was blocked by our content filter.'),
    }),
    row('key-refused', '401', 'credentials', { reply: wrongKey }),
    row('credits', '400 not_enough_credits', 'credentials', {
      reply: refused(400, 'not_enough_credits', 'Not enough credits.'),
    }),
    row('other-refusal', '400 about a field that Darkroom sends', 'unknown_answer', {
      reply: refused(400, 'invalid_request_parameter', 'size is not supported by this model'),
    }),
  ],
  ways: {
    ...commonShape,
    'refused prompt': 'improper',
    'refused source': noSources,
    'out of credit': 'credits',
  },
  honours: { ...plainFields, negative_prompt: { refused: 'Only models before V4 take one.' } },
};
