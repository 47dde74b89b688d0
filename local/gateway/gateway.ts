import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LocalFunctions } from '../lambda/functions.ts';
import type { InvocationResult } from '../lambda/messages.ts';
import type { LocalRoute } from '../template.ts';
import { gatewayEvent, targetOf, type Forwarded } from './gateway-event.ts';
import { readResponse, sendResponse } from './gateway-response.ts';
import { readBody, refuseBody, sendJson } from './http-body.ts';
import { asksForNewWork, noRoom } from './new-work.ts';
import { createRouter } from './router.ts';

/** Quotas of HTTP APIs. AWS raises neither of them. */
const maxBodyBytes = 10 * 1024 * 1024;
const longestIntegrationMillis = 30_000;

/** The stand-in of API Gateway: the HTTP API of the template. */
export interface Gateway {
  /**
   * Answers one request. Some requests reach no function: the gateway refuses those itself, in AWS's words.
   */
  readonly handle: (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    forwarded?: Forwarded,
  ) => Promise<void>;
}

/** What createGateway() needs. */
export interface GatewayOptions {
  readonly routes: readonly LocalRoute[];
  readonly functions: Pick<LocalFunctions, 'invoke'>;
  /** The virtual time, in milliseconds since 1970. */
  readonly now: () => number;
  /**
   * Whether the stage's throttle refuses the next request. Without this function the throttle refuses none.
   */
  readonly throttles?: () => boolean;
  /** Whether the machine takes new work. Without this function it always does. */
  readonly hasRoom?: () => boolean;
  /** The real milliseconds that a function may take. The default is 30 s, as in AWS. */
  readonly integrationMillis?: number;
}

/** Makes the gateway. It serves exactly the template's routes. */
export function createGateway({
  routes,
  functions,
  now,
  throttles,
  hasRoom = () => true,
  integrationMillis = longestIntegrationMillis,
}: GatewayOptions): Gateway {
  const find = createRouter(routes);
  return {
    handle: async (incoming, outgoing, forwarded) => {
      const method = incoming.method ?? '';
      const requestId = randomUUID();
      // Answers of the gateway itself have the header, too.
      outgoing.setHeader('apigw-requestid', requestId);
      const match = find(method, targetOf(incoming).path);
      if (match === undefined) {
        refuseBody(incoming, outgoing, 404, { message: 'Not Found' });
        return;
      }
      const body = await readBody(incoming, maxBodyBytes);
      if (body === undefined) {
        refuseBody(incoming, outgoing, 413, { message: 'Request Entity Too Large' });
        return;
      }
      if (throttles?.() === true) {
        sendJson(outgoing, 429, { message: 'Too Many Requests' });
        return;
      }
      const event = gatewayEvent({ incoming, body, match, requestId, at: now(), forwarded });
      if (asksForNewWork(method, event.rawPath, body) && !hasRoom()) {
        const refusal = noRoom(event.rawPath, requestId);
        sendJson(outgoing, refusal.status, refusal.body, refusal.headers);
        return;
      }
      const result = await within(
        integrationMillis,
        functions.invoke(match.route.functionId, event, 'gateway'),
      );
      if (result === undefined) {
        sendJson(outgoing, 503, { message: 'Service Unavailable' });
        return;
      }
      const response = result.ok ? readResponse(result.payload) : undefined;
      if (response === undefined) {
        sendJson(outgoing, 500, { message: 'Internal Server Error' });
        return;
      }
      sendResponse(outgoing, response, method);
    },
  };
}

/** The result, or undefined after the time limit. As in AWS, the function runs on in that case. */
async function within(
  millis: number,
  result: Promise<InvocationResult>,
): Promise<InvocationResult | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), millis);
  try {
    return await Promise.race([result, promise]);
  } finally {
    clearTimeout(timer);
  }
}
