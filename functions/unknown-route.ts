import { openApi } from '../service/api/open.ts';
import { serve, unknownRoute } from '../service/api/serve.ts';
import { atFirstRequest } from '../service/platform/common.ts';
import { base } from '../service/platform/lambda-base.ts';
import { dynamodb } from '../service/platform/lambda.ts';

export const handler = serve(
  'by method',
  unknownRoute,
  atFirstRequest(() => openApi({ ...base(), dynamodb: dynamodb() })),
);
