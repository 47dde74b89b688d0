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
/** Far above what each service takes, and short enough for a second try within a request's time. */
export const tryMillis = 5_000;

/**
 * For the settings of a new client.
 * @param millis of one try, from its first byte to the head of the answer, and between two bytes of the answer
 */
export function callLimits(millis = tryMillis): CallLimits {
  return {
    maxAttempts,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: connectMillis,
      requestTimeout: millis,
      throwOnRequestTimeout: true,
      socketTimeout: millis,
    }),
  };
}
