import { getBalance } from '../service/api/get-balance.ts';
import { openBalance } from '../service/api/open.ts';
import { serve } from '../service/api/serve.ts';
import { base } from '../service/platform/lambda-base.ts';
import { dynamodb } from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';

export const handler = serve(
  'get',
  getBalance,
  atFirstRequest(() => openBalance({ ...base(), dynamodb: dynamodb() })),
);
