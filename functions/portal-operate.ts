import { operatedOperations } from '../service/contract/operations.ts';
import { base } from '../service/platform/lambda-base.ts';
import { catalog, dynamodb, originSecrets, registration, states } from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';
import { servePortal } from '../service/portal/http/serve-portal.ts';
import { operateHandlers } from '../service/portal/operate/handlers.ts';
import { openPortalOperate } from '../service/portal/operate/open.ts';

export const handler = servePortal(
  'operate',
  operateHandlers,
  atFirstRequest(() =>
    openPortalOperate({
      ...base(),
      dynamodb: dynamodb(),
      originSecrets: originSecrets(),
      states: states(),
      registration,
      catalog,
    }),
  ),
  operatedOperations,
);
