import { costHeader } from '../api/answer.ts';
import type { QuoteServices } from '../api/open.ts';
import type { Handle } from '../api/serve.ts';
import { deprecationHeaders } from '../catalog/sold-catalog.ts';
import { asMicros, toUsd } from '../values/money.ts';
import { parseImageRequest } from './parse.ts';
import { planCreation } from './plan.ts';
import { findUploads } from './sources.ts';

/** POST /images/quote: the price, and whether a route renders it. Fetches and charges nothing. */
export const quoteImage: Handle<QuoteServices> = async (request, caller, services) => {
  const body = parseImageRequest(request, 'quoteImage', services, caller.token);
  const { request: image, costMicros } = planCreation(body, caller, services);
  await findUploads(image.imageUrls, caller, services);
  const { account, token } = caller;
  // A page never sees the wallet of the account.
  const availableMicros = token ? token.leftMicros : account.availableMicros;
  return {
    status: 200,
    headers: { ...deprecationHeaders(image.model), ...costHeader(costMicros) },
    body: {
      cost: toUsd(costMicros),
      currency: 'USD',
      model: image.model.id,
      resolution: image.resolution,
      aspect_ratio: image.aspectRatio,
      output_format: image.outputFormat,
      input_images: image.imageUrls.length,
      available: toUsd(asMicros(availableMicros)),
      sufficient: Math.min(availableMicros, account.availableMicros) >= costMicros && token?.usesLeft !== 0,
    },
  };
};
