import { withCatalog } from '../service/api/admit.ts';
import { openaiModels } from '../service/openai/models.ts';
import { openOpenaiModels } from '../service/openai/open.ts';
import { serveOpenai } from '../service/openai/serve-openai.ts';
import { base } from '../service/platform/lambda-base.ts';
import { catalog, dynamodb } from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';

export const handler = serveOpenai(
  withCatalog(openaiModels),
  atFirstRequest(() => openOpenaiModels({ ...base(), dynamodb: dynamodb(), catalog })),
);
