/** What the document says of ordering an image. */
import { requestHeaders } from '../headers.ts';
import type { Documented } from '../operation.ts';
import { creation } from '../schemas/creation.ts';
import { imageRequest } from '../schemas/image-request.ts';
import { quote } from '../schemas/money.ts';

const requests = {
  text: {
    model: 'sandbox-standard',
    prompt: 'a lighthouse at dusk',
    aspect_ratio: '16:9',
    metadata: { order: '4711' },
  },
  large: { model: 'sandbox-pro', prompt: 'a boat', resolution: '4K', aspect_ratio: '21:9' },
};

const accepted = ['Location', 'Cost', 'IdempotentReplayed', 'PreferenceApplied'] as const;

export const generateImage: Documented<'generateImage'> = {
  tag: 'Images',
  summary: 'Order an image',
  description:
    'Accepts a request, charges it, and answers at once, or with `Prefer: wait=N` once the creation has ended. Nothing is charged for a request that is refused. Send an `Idempotency-Key` with every request that you may have to repeat.',
  query: {},
  headers: { 'Idempotency-Key': requestHeaders.idempotencyKey, Prefer: requestHeaders.prefer },
  body: { schema: imageRequest, examples: requests },
  answers: {
    successes: [
      {
        status: 200,
        description:
          'Only with `Prefer: wait`: the creation has ended. It completed, or it failed through its own request.',
        schema: creation,
        headers: accepted,
        examples: ['completed'],
      },
      {
        status: 202,
        description: 'The creation is accepted and charged, now or by an earlier request with the same key.',
        schema: creation,
        headers: [...accepted, 'RetryAfter'],
        examples: ['accepted'],
      },
    ],
    refusals: [
      'noRoute',
      'maxCostExceeded',
      'idempotencyKeyMismatch',
      'overBalance',
      'overBudget',
      'overUserBudget',
      'modelNotFound',
      'tooManyOpen',
      'serviceIsFull',
      'inputFetchFailed',
      'generationFailed',
      'providerUnavailable',
      'noProviderEnabled',
    ],
    examples: {
      400: ['invalid-request'],
      402: ['over-balance', 'over-budget'],
      429: ['too-many-open', 'rate-used-up'],
      502: ['source-not-fetched', 'failed-while-waiting'],
      503: ['overloaded'],
    },
    concernsModel: true,
    takesBody: true,
  },
};

export const quoteImage: Documented<'quoteImage'> = {
  tag: 'Images',
  summary: 'Ask for the price of an image',
  description:
    'Takes the body of an order, checks it, finds a route and names the price. It fetches nothing, charges nothing, and looks up no host name.',
  query: {},
  body: { schema: imageRequest, examples: requests },
  answers: {
    successes: [
      {
        status: 200,
        description: 'The price, and the image that the request would give.',
        schema: quote,
        headers: ['Cost'],
        examples: ['quote'],
      },
    ],
    refusals: ['noRoute', 'maxCostExceeded', 'modelNotFound', 'noProviderEnabled'],
    examples: { 400: ['invalid-request'] },
    concernsModel: true,
    takesBody: true,
  },
};
