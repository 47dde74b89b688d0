import { costHeader } from '../api/answer.ts';
import type { QuoteServices } from '../api/open.ts';
import type { Handle } from '../api/serve.ts';
import { deprecationHeaders } from '../catalog/sold-catalog.ts';
import { asMicros, toUsd } from '../values/money.ts';
import { parseImageRequest } from './parse.ts';
import { costOfAll, planCreation } from './plan.ts';
import { findUploads } from './sources.ts';

/** POST /images/quote: the price, and whether a route renders it. Fetches and charges nothing. */
export const quoteImage: Handle<QuoteServices> = async (request, caller, services) => {
  const { account, token } = caller;
  const body = parseImageRequest(request, 'quoteImage', services, token);
  const plan = planCreation(body, caller, services);
  const { request: image } = plan;
  const costMicros = costOfAll(plan);
  const usesLeft = token?.usesLeft ?? Infinity;
  await findUploads(image, caller, services);
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
      sufficient: Math.min(availableMicros, account.availableMicros) >= costMicros && usesLeft >= image.count,
    },
  };
};
