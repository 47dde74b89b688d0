/** Time limits of the AWS SDK's clients: by default a call without an answer waits for ever. */
import { NodeHttpHandler } from '@smithy/node-http-handler';

export interface CallLimits {
  readonly maxAttempts: number;
  readonly requestHandler: NodeHttpHandler;
}

/** How often a call is tried, including the first try. */
const maxAttempts = 3;
const connectMillis = 3_000;
/** No service takes nearly as long, and a second try still fits into the time of a request. */
export const tryMillis = 5_000;

/**
 * Part of the settings of a new client.
 * @param millis limits one try twice: from its first byte to the head of the answer, and from each byte of
 *   the answer to the next byte
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
