import { followPayments } from '../service/payments/follow-payments.ts';
import { openFollowPayments } from '../service/payments/open.ts';
import { base, lambdaHandler } from '../service/platform/lambda-base.ts';
import { dynamodb, paymentSystem, states } from '../service/platform/lambda.ts';

export const handler = lambdaHandler(
  () =>
    openFollowPayments({
      ...base(),
      dynamodb: dynamodb(),
      states: states(),
      paymentSystem: paymentSystem(),
    }),
  async (_event: unknown, services, _requestId, context) =>
    followPayments(services, () => context.getRemainingTimeInMillis()),
);
