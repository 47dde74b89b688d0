/** What every opener takes, in Lambda. This file loads no client of the SDK, so that a small function stays small. */
import { randomBytes } from 'node:crypto';
import type { Context } from 'aws-lambda';
import { systemClock as clock } from '../aws/clock.ts';
import { createJsonLog } from '../aws/log.ts';
import { logWith, schema } from '../values/runtime.ts';
import { type CommonServices, once } from './common.ts';
import { environment } from './environment.ts';
import type { On, Platform } from './platform.ts';

export const random: Platform['randomBytes'] = (count) => randomBytes(count);

export function base(): On {
  const namespace = environment('METRICS_NAMESPACE');
  return {
    clock,
    randomBytes: random,
    environment,
    log: (component) => createJsonLog({ component, namespace, now: () => clock.now() }),
    schema: () => schema,
    remembered: (_name, make) => {
      const state = make();
      return () => state;
    },
  };
}

export type LambdaHandler<Event, Result> = (event: Event, context: Context) => Promise<Result>;

/** A Lambda handler for Step Functions and EventBridge. @param build runs at the first event */
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
