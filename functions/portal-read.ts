import { base } from '../service/platform/lambda-base.ts';
import { catalog, dynamodb, originSecrets, resultSigner } from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';
import { serveRead } from '../service/portal/read/handlers.ts';
import { openPortalRead } from '../service/portal/read/open.ts';

export const handler = serveRead(
  atFirstRequest(() =>
    openPortalRead({
      ...base(),
      dynamodb: dynamodb(),
      resultSigner: resultSigner(),
      originSecrets: originSecrets(),
      catalog,
    }),
  ),
);
