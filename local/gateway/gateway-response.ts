import type { ServerResponse } from 'node:http';
import * as z from 'zod';

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
