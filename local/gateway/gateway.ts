import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { readBody, refuseBody, sendJson } from '../http.ts';
import type { LocalFunctions } from '../lambda/functions.ts';
import type { InvocationResult } from '../lambda/messages.ts';
import type { LocalRoute } from '../template.ts';
import { type Forwarded, gatewayEvent, targetOf } from './events.ts';
import { asksForNewWork, noRoom } from './new-work.ts';
import { createRouter } from './router.ts';

const responseSchema = z.object({
  statusCode: z
    .union([
      z.int(),
      z
        .string()
        .regex(/^\d{3}$/)
        .transform(Number),
    ])
    .refine((status) => status >= 100 && status <= 599),
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  cookies: z.array(z.string()).optional(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().optional(),
});

/** A function's answer in payload format 2.0, after the check. */
export type GatewayResponse = z.output<typeof responseSchema>;

/** These headers belong to the connection between client and gateway. A function cannot set them. */
export const connectionHeaders = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Reads a function's return value. A value without a statusCode is itself the body, as in payload format 2.0.
 * Undefined when the value is malformed.
 */
export function readResponse(payload: unknown): GatewayResponse | undefined {
  if (typeof payload === 'object' && payload !== null && 'statusCode' in payload)
    return responseSchema.safeParse(payload).data;
  return {
    statusCode: 200,
    headers: { 'content-type': 'application/json' },
    body: typeof payload === 'string' ? payload : JSON.stringify(payload),
  };
}

/** Sends the answer. A HEAD request gets only the headers. */
export function sendResponse(
  outgoing: ServerResponse,
  { statusCode, headers = {}, cookies = [], body, isBase64Encoded }: GatewayResponse,
  method: string,
): void {
  const bytes = Buffer.from(body ?? '', isBase64Encoded === true ? 'base64' : 'utf8');
  for (const [name, value] of Object.entries(headers))
    if (!connectionHeaders.has(name.toLowerCase())) outgoing.setHeader(name, String(value));
  if (!outgoing.hasHeader('content-type') && bytes.length > 0)
    outgoing.setHeader('content-type', 'text/plain;charset=UTF-8');
  if (cookies.length > 0) outgoing.setHeader('set-cookie', cookies);
  if (statusCode !== 204 && statusCode !== 304) outgoing.setHeader('content-length', bytes.length);
  outgoing.writeHead(statusCode);
  outgoing.end(method === 'HEAD' ? undefined : bytes);
}

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
