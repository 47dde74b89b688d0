/** Reads the headers and the raw body of a request, whichever server received it. */
/** Why a webhook is refused. */

const messages = {
  body_not_raw:
    'The raw body is missing: give the bytes as they arrived. A parsed body has lost the bytes that the signature covers.',
  secret_invalid:
    'The secret is not valid: it is "whsec_" and base64, as the service shows it. Is the variable set?',
  signature_missing: 'The request has neither webhook-signature nor X-Webhook-Signature-256.',
  timestamp_invalid: 'The time of signing is missing, or it is not a number of seconds.',
  timestamp_too_old: 'The request was signed too long ago.',
  timestamp_too_new: 'The request was signed in the future. Check the clock of this machine.',
  signature_mismatch: 'No signature matches: another secret signed, or the body was changed on its way.',
  payload_invalid: 'The signature matches, but the body is neither an event nor a notice.',
} as const;

/**
 * Why a webhook is refused. `body_not_raw` and `secret_invalid` are mistakes of the receiver. All others are
 * faults of the request.
 */
export type WebhookErrorReason = keyof typeof messages;

/**
 * A request that is not a webhook of the service, or that cannot be verified. The message never contains a
 * secret or the body.
 *
 * @example
 * try {
 *   await verifyWebhook(request, secret);
 * } catch (error) {
 *   if (!(error instanceof WebhookError)) throw error;
 *   console.log(error.reason); // 'signature_mismatch'
 * }
 */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly reason: WebhookErrorReason;

  constructor(reason: WebhookErrorReason, options?: ErrorOptions) {
    super(messages[reason], options);
    this.reason = reason;
  }
}

/** A fetch `Request`, as Next.js, Hono, Bun, Deno and Workers have it. */
export interface WebRequest {
  readonly headers: { get(name: string): string | null };
  readonly bodyUsed: boolean;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** Names in any case. Several values of one name are a list, or one text with commas. */
export type HeaderFields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The parts of a request. The requests of Express and Fastify, and the event of a Lambda function, have this shape. */
export interface ReceivedParts {
  readonly headers: HeaderFields | { get(name: string): string | null };
  /** Bytes, or the text of the body. Everything else is refused as `body_not_raw`. */
  readonly body?: unknown;
  /** True when `body` is base64: API Gateway and function URLs say so. */
  readonly isBase64Encoded?: boolean | undefined;
}

export interface Received {
  /** The value of a header. Undefined when the request does not have it. */
  header(name: string): string | undefined;
  readonly body: Uint8Array<ArrayBuffer>;
}

export async function readReceived(request: WebRequest | ReceivedParts): Promise<Received> {
  return { header: headerReader(request.headers), body: await rawBody(request) };
}

function headerReader(headers: ReceivedParts['headers']): Received['header'] {
  if (hasGet(headers)) return (name) => headers.get(name) ?? undefined;
  const fields = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => {
    const value = fields.get(name);
    return typeof value === 'string' ? value : value?.join(', ');
  };
}

// A plain object may have a header called "get", but its value is then no function.
function hasGet(headers: ReceivedParts['headers']): headers is { get(name: string): string | null } {
  return typeof headers['get'] === 'function';
}

function isWebRequest(request: WebRequest | ReceivedParts): request is WebRequest {
  return 'arrayBuffer' in request && typeof request.arrayBuffer === 'function';
}

async function rawBody(request: WebRequest | ReceivedParts): Promise<Uint8Array<ArrayBuffer>> {
  if (isWebRequest(request)) {
    if (request.bodyUsed) throw new WebhookError('body_not_raw');
    return new Uint8Array(await request.arrayBuffer());
  }
  const { body, isBase64Encoded } = request;
  if (typeof body === 'string') {
    return isBase64Encoded === true ? bytesOfBase64(body) : new TextEncoder().encode(body);
  }
  // A copy: the bytes of the caller may lie in shared memory, which WebCrypto refuses.
  if (body instanceof Uint8Array || body instanceof ArrayBuffer) return new Uint8Array(body).slice();
  throw new WebhookError('body_not_raw');
}

function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const bytes = decodeBase64(text);
  if (!bytes) throw new WebhookError('body_not_raw');
  return bytes;
}

/** Undefined when the text is not base64. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
