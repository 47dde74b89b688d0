/** The stand-in of API Gateway: the HTTP API of the template. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { readBody, refuseBody, sendJson, targetOf, within } from '../http.ts';
import type { LocalFunctions } from '../lambda/functions.ts';
import type { LocalRoute } from '../template.ts';
import { type Forwarded, gatewayEvent } from './events.ts';
import { asksForNewWork, noRoom } from './new-work.ts';
import { createRouter } from './router.ts';

/** Quotas of HTTP APIs. AWS raises neither of them. */
const maxBodyBytes = 10 * 1024 * 1024;
const longestIntegrationMillis = 30_000;

export interface Gateway {
  /** Answers one request. Some the gateway refuses itself, in AWS's words. */
  readonly handle: (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    forwarded?: Forwarded,
  ) => Promise<void>;
}

/** What every API of this machine is made with. */
export interface ApiOptions {
  readonly functions: Pick<LocalFunctions, 'invoke'>;
  /** The virtual time, in milliseconds since 1970. */
  readonly now: () => number;
  /** Whether the stage's throttle refuses the next request. Without this function the throttle refuses none. */
  readonly throttles?: () => boolean;
  /** Whether the machine takes new work. Without this function it always does. */
  readonly hasRoom?: () => boolean;
}

/** Makes the gateway. It serves exactly the template's routes. */
export function createGateway({
  routes,
  functions,
  now,
  throttles,
  hasRoom = () => true,
  integrationMillis = longestIntegrationMillis,
}: ApiOptions & {
  readonly routes: readonly LocalRoute[];
  /** The real milliseconds that a function may take. The default is 30 s, as in AWS. */
  readonly integrationMillis?: number;
}): Gateway {
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
      const refuse = (status: number, message: string): void => sendJson(outgoing, status, { message });
      if (throttles?.() === true) {
        refuse(429, 'Too Many Requests');
        return;
      }
      const event = gatewayEvent({ incoming, body, match, requestId, at: now(), forwarded });
      if (asksForNewWork(method, event.rawPath, body) && !hasRoom()) {
        const refusal = noRoom(event.rawPath, requestId);
        sendJson(outgoing, refusal.status, refusal.body, refusal.headers);
        return;
      }
      const invocation = functions.invoke(match.route.functionId, event, 'gateway');
      const result = await within(integrationMillis, [invocation]);
      if (result === undefined) {
        refuse(503, 'Service Unavailable');
        return;
      }
      const response = result.ok ? readResponse(result.payload) : undefined;
      if (response === undefined) refuse(500, 'Internal Server Error');
      else sendResponse(outgoing, response, method);
    },
  };
}

export const headersSchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({});

const responseSchema = z.object({
  statusCode: z
    .union([z.int(), z.string().regex(/^\d{3}$/)])
    .transform(Number)
    .refine((status) => status >= 100 && status <= 599),
  headers: headersSchema,
  cookies: z.array(z.string()).default([]),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().default(false),
});

/** Reads a return value in payload format 2.0. Undefined when it is malformed. */
export function readResponse(payload: unknown): z.output<typeof responseSchema> | undefined {
  if (typeof payload === 'object' && payload !== null && 'statusCode' in payload)
    return responseSchema.safeParse(payload).data;
  return responseSchema.parse({
    statusCode: 200,
    headers: { 'content-type': 'application/json' },
    body: typeof payload === 'string' ? payload : JSON.stringify(payload),
  });
}

/** These headers belong to the connection between client and gateway. A function cannot set them. */
const connectionHeaders = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

export function setHeaders(
  outgoing: ServerResponse,
  { headers, cookies }: Pick<z.output<typeof responseSchema>, 'headers' | 'cookies'>,
): void {
  for (const [name, value] of Object.entries(headers))
    if (!connectionHeaders.has(name.toLowerCase())) outgoing.setHeader(name, String(value));
  if (cookies.length > 0) outgoing.setHeader('set-cookie', cookies);
}

/** Sends the answer. A HEAD request gets only the headers. */
export function sendResponse(
  outgoing: ServerResponse,
  response: z.output<typeof responseSchema>,
  method: string,
): void {
  const { statusCode, body, isBase64Encoded } = response;
  const bytes = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
  setHeaders(outgoing, response);
  if (!outgoing.hasHeader('content-type') && bytes.length > 0)
    outgoing.setHeader('content-type', 'text/plain;charset=UTF-8');
  if (statusCode !== 204 && statusCode !== 304) outgoing.setHeader('content-length', bytes.length);
  outgoing.writeHead(statusCode);
  outgoing.end(method === 'HEAD' ? undefined : bytes);
}
