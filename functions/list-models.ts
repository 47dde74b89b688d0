import { withCatalog } from '../service/api/admit.ts';
import { listModels } from '../service/api/list-models.ts';
import { openCatalog } from '../service/api/open.ts';
import { serve } from '../service/api/serve.ts';
import { base } from '../service/platform/lambda-base.ts';
import { catalog, dynamodb } from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';

export const handler = serve(
  'get',
  withCatalog(listModels),
  atFirstRequest(() => openCatalog({ ...base(), dynamodb: dynamodb(), catalog })),
);
