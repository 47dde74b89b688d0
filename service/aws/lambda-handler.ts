import type { Context } from 'aws-lambda';
import type { CommonServices } from '../platform/common.ts';
import { once } from '../platform/opener.ts';
import { logWith } from '../values/runtime.ts';

export type LambdaHandler<Event, Result> = (event: Event, context: Context) => Promise<Result>;

/**
 * A Lambda handler that no client calls: Step Functions and EventBridge do. Every log line carries the id of
 * the invocation.
 * @param build builds the services, at the first event
 */
export function lambdaHandler<Event, Result, Services extends CommonServices>(
  build: () => Services,
  run: (event: Event, services: Services, requestId: string, context: Context) => Promise<Result>,
): LambdaHandler<Event, Result> {
  const services = once(build);
  return async (event, context) => {
    const { awsRequestId: requestId } = context;
    return run(event, logWith(services(), { requestId }), requestId, context);
  };
}
