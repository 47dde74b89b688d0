import type { Payload } from '../service/creations/payload.ts';
import { base, lambdaHandler } from '../service/platform/lambda-base.ts';
import {
  allVendors,
  dynamodb,
  images,
  outbound,
  providerCosts,
  resultSigner,
  secretBox,
  states,
  measures,
  thumbnails,
} from '../service/platform/lambda.ts';
import { openRender } from '../service/render/open.ts';
import { renderImage } from '../service/render/render-image.ts';

export const handler = lambdaHandler(
  () =>
    openRender({
      ...base(),
      dynamodb: dynamodb(),
      resultSigner: resultSigner(),
      states: states(),
      images,
      measures,
      thumbnails,
      ...allVendors(),
      providerCosts,
      secretBox: secretBox(),
      outbound: outbound(),
    }),
  async (payload: Payload, services, requestId) => renderImage(payload, requestId, services),
);
