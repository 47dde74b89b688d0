import { base, lambdaHandler } from '../service/platform/lambda-base.ts';
import { dynamodb, states } from '../service/platform/lambda.ts';
import { openReconcile } from '../service/reconcile/open.ts';
import { reconcile, type ReconcileEvent } from '../service/reconcile/reconcile.ts';

export const handler = lambdaHandler(
  () => openReconcile({ ...base(), dynamodb: dynamodb(), states: states() }),
  (event: ReconcileEvent, services, _requestId, context) =>
    reconcile(event, services, () => context.getRemainingTimeInMillis()),
);
