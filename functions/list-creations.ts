import { listOf } from '../service/api/list-requests.ts';
import { openList } from '../service/api/open.ts';
import { serve } from '../service/api/serve.ts';
import { base } from '../service/platform/lambda-base.ts';
import { dynamodb, resultSigner } from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';

export const handler = serve(
  'get',
  listOf,
  atFirstRequest(() => openList({ ...base(), dynamodb: dynamodb(), resultSigner: resultSigner() })),
);
