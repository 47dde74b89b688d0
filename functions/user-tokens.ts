import { openUserTokens } from '../service/api/open.ts';
import { serve } from '../service/api/serve.ts';
import { userTokens } from '../service/api/user-tokens.ts';
import { atFirstRequest } from '../service/platform/common.ts';
import { base } from '../service/platform/lambda-base.ts';
import { dynamodb } from '../service/platform/lambda.ts';

/** Mints, reads and revokes the tokens of end users: three rare operations, one function. */
export const handler = serve(
  'by method',
  userTokens,
  atFirstRequest(() => openUserTokens({ ...base(), dynamodb: dynamodb() })),
);
