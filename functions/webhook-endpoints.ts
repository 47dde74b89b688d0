import { serve } from '../service/api/serve.ts';
import { endpointsAndBucket } from '../service/copies/results-bucket.ts';
import { openEndpointsAndBucket } from '../service/copies/open.ts';
import { atFirstRequest } from '../service/platform/common.ts';
import { base } from '../service/platform/lambda-base.ts';
import { dynamodb, outbound, resultSigner, secretBox, states } from '../service/platform/lambda.ts';

/** Where the events and the pictures of an account go: eight rare operations, one function. */
export const handler = serve(
  'by method',
  endpointsAndBucket,
  atFirstRequest(() =>
    openEndpointsAndBucket({
      ...base(),
      dynamodb: dynamodb(),
      resultSigner: resultSigner(),
      outbound: outbound(),
      secretBox: secretBox(),
      states: states(),
    }),
  ),
);
