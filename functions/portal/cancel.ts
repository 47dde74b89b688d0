/** The Lambda function that cancels a creation. It alone may read the keys of the vendors that stop jobs. */
import { atFirstRequest } from '../services/open.ts';
import { openPortalCancel, type PortalCancelServices } from '../services/portal-cancel.ts';
import { base, stoppingVendors, dynamodb, originSecrets, states } from '../services/lambda.ts';
import { cancelPortalCreation } from './cancel/cancel-portal-creation.ts';
import { servePortal, type PortalHandlers } from './http/serve-portal.ts';

export const cancelHandlers: PortalHandlers<'cancel', PortalCancelServices> = { cancelPortalCreation };

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
