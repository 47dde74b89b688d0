import { base } from '../service/platform/lambda-base.ts';
import { dynamodb, originSecrets, states, stoppingVendors } from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';
import { cancelHandlers } from '../service/portal/generate/cancel.ts';
import { openPortalCancel } from '../service/portal/generate/open.ts';
import { servePortal } from '../service/portal/http/serve-portal.ts';

export const handler = servePortal(
  'cancel',
  cancelHandlers,
  atFirstRequest(() =>
    openPortalCancel({
      ...base(),
      dynamodb: dynamodb(),
      originSecrets: originSecrets(),
      states: states(),
      ...stoppingVendors(),
    }),
  ),
);
