import { openApi } from '../service/api/open.ts';
import { serve } from '../service/api/serve.ts';
import { unknownRoute } from '../service/api/unknown-route.ts';
import { base } from '../service/platform/lambda-base.ts';
import { dynamodb } from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/opener.ts';

export const handler = serve(
  'by method',
  unknownRoute,
  atFirstRequest(() => openApi({ ...base(), dynamodb: dynamodb() })),
);
