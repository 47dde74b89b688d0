import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { base, lambdaHandler } from '../service/platform/lambda-base.ts';
import {
  callingVendors,
  dynamodb,
  images,
  outbound,
  resultSigner,
  secretBox,
  states,
  measures,
  thumbnails,
} from '../service/platform/lambda.ts';
import { openCallback } from '../service/render/open.ts';
import { receiveCallback } from '../service/render/receive-callback.ts';

export const handler = lambdaHandler(
  () =>
    openCallback({
      ...base(),
      dynamodb: dynamodb(),
      resultSigner: resultSigner(),
      states: states(),
      images,
      measures,
      thumbnails,
      vendors: callingVendors(),
      secretBox: secretBox(),
      outbound: outbound(),
    }),
  async (event: APIGatewayProxyEventV2, services, requestId) => receiveCallback(event, requestId, services),
);
