/**
 * Time limits of the AWS SDK's clients. Without them a call that gets no answer waits for ever; and
 * smithy from 4.4 on only warns of a request that takes too long, unless throwOnRequestTimeout is set.
 */
import { NodeHttpHandler } from '@smithy/node-http-handler';

export interface CallLimits {
  /** Tries, the first included. */
  readonly maxAttempts: number;
  readonly requestHandler: NodeHttpHandler;
}

/** Tries of one call, the first included. */
const maxAttempts = 3;
const connectMillis = 3_000;
/** Of one try. Far above what each service takes, and short enough for a second try within a request's time. */
const requestMillis = 5_000;

/** For the settings of a new client. */
export function callLimits(): CallLimits {
  return {
    maxAttempts,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: connectMillis,
      requestTimeout: requestMillis,
      throwOnRequestTimeout: true,
      // Between two bytes of an answer that has begun.
      socketTimeout: requestMillis,
    }),
  };
}
