import { serve } from '../service/api/serve.ts';
import { listEvents } from '../service/events/list-events.ts';
import { openEvents } from '../service/events/open.ts';
import { base } from '../service/platform/lambda-base.ts';
import { dynamodb, resultSigner } from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';

export const handler = serve(
  'get',
  listEvents,
  atFirstRequest(() => openEvents({ ...base(), dynamodb: dynamodb(), resultSigner: resultSigner() })),
);
