import { portalOperations } from '../service/contract/operations.ts';
import { atFirstRequest } from '../service/platform/common.ts';
import { base } from '../service/platform/lambda-base.ts';
import { dynamodb, originSecrets, paymentSystem, states } from '../service/platform/lambda.ts';
import { servePortal } from '../service/portal/http/serve-portal.ts';
import { payHandlers } from '../service/portal/pay/handlers.ts';
import { openPortalPay } from '../service/portal/pay/open.ts';

export const handler = servePortal(
  'pay',
  payHandlers,
  atFirstRequest(() =>
    openPortalPay({
      ...base(),
      dynamodb: dynamodb(),
      originSecrets: originSecrets(),
      states: states(),
      paymentSystem: paymentSystem(),
    }),
  ),
  portalOperations,
);
