import { withCatalog } from '../service/api/admit.ts';
import { getCreation } from '../service/api/creations.ts';
import { openCatalog } from '../service/api/open.ts';
import { serve } from '../service/api/serve.ts';
import { base } from '../service/platform/lambda-base.ts';
import { catalog, dynamodb, resultSigner } from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';

export const handler = serve(
  'get',
  withCatalog(getCreation),
  atFirstRequest(() =>
    openCatalog({ ...base(), dynamodb: dynamodb(), resultSigner: resultSigner(), catalog }),
  ),
);
