/**
 * HTTPS as every vendor's adapter needs it: one call, never repeated by itself, no
 * redirect followed, the answer bounded, and a breakage told apart by what it means:
 * surely not begun, or perhaps accepted already.
 */
import { CredentialsUnreadable, refusedBy, type ProviderAnswer, type Refused } from '../../core/provider.ts';

export interface VendorOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Hosts besides the base's own that an address in an answer may name: themselves and what is under them. */
  readonly hosts: readonly string[];
}

export interface VendorCall {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** A path under the base, or an address that an answer named. */
  readonly to: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON when it is a plain object. */
  readonly body?: object | FormData;
  readonly signal: AbortSignal;
}

export interface VendorResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown;
}

export interface VendorHttp {
  /** Throws CallBroke when no whole answer came, and the signal's reason when it aborts. */
  call(call: VendorCall): Promise<VendorResponse>;
  /** Whether an address of an answer is the vendor's own. */
  isOwn(url: string): boolean;
}

/** No whole answer came. */
export class CallBroke extends Error {
  override readonly name = 'CallBroke';
  /** False: the vendor surely never saw the request. */
  readonly perhapsAccepted: boolean;
  /** A code such as ECONNRESET; never an address. */
  readonly code: string;
  constructor(code: string, perhapsAccepted: boolean, cause?: unknown) {
    super(`the call broke: ${code}`, { cause });
    this.code = code;
    this.perhapsAccepted = perhapsAccepted;
  }
}

/** The largest picture of the largest vendor (4K PNG), base64 and some. */
const mostBytes = 96 * 1024 * 1024;

/** No connection was ever made, so nothing was sent (Node's and undici's codes). */
const neverConnected = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

export function createVendorHttp({ baseUrl, hosts }: VendorOptions): VendorHttp {
  const base = new URL(baseUrl);
  const isOwn = (text: string): boolean => {
    if (!URL.canParse(text)) return false;
    const url = new URL(text);
    if (url.origin === base.origin) return true;
    const isNamed = hosts.some((host) => url.hostname === host || url.hostname.endsWith(`.${host}`));
    return (
      isNamed && url.protocol === 'https:' && url.port === '' && url.username === '' && url.password === ''
    );
  };
  return {
    isOwn,
    call: async ({ method, to, headers, body, signal }) => {
      const url = to.startsWith('/') ? `${baseUrl}${to}` : to;
      if (!isOwn(url)) throw new Error("an address that is not the vendor's own was to be called");
      try {
        const response = await fetch(url, {
          method,
          redirect: 'manual',
          signal,
          headers: { ...(isPlain(body) && { 'content-type': 'application/json' }), ...headers },
          ...(body !== undefined && { body: isPlain(body) ? JSON.stringify(body) : (body as FormData) }),
        });
        const bytes = await readBounded(response);
        return {
          status: response.status,
          headers: response.headers,
          bytes,
          json: parsed(bytes, response.headers),
        };
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof CallBroke) throw error;
        const code = codeOf(error);
        throw new CallBroke(code, !neverConnected.includes(code), error);
      }
    },
  };
}

function isPlain(body: object | FormData | undefined): boolean {
  return body !== undefined && !(body instanceof FormData);
}

async function readBounded(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > mostBytes) throw new CallBroke('TOO_LARGE', true);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parsed(bytes: Uint8Array, headers: Headers): unknown {
  if (!/\bjson\b/.test(headers.get('content-type') ?? '')) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** fetch() hides the code in the cause, where several addresses were tried in the first of its errors. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const first = cause instanceof AggregateError ? (cause.errors[0] as unknown) : cause;
  const code = first instanceof Error && 'code' in first ? String(first.code) : '';
  return code === '' ? 'UNKNOWN' : code;
}

/** Makes a breakage an answer: what was surely not begun leaves the vendor out, all else is an unknown outcome. */
export async function answering(work: () => Promise<ProviderAnswer>): Promise<ProviderAnswer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CredentialsUnreadable) return refusedBy('credentials', 'the secret cannot be read');
    if (!(error instanceof CallBroke)) throw error;
    return refusedBy(error.perhapsAccepted ? 'unknown_outcome' : 'unavailable', error.code);
  }
}

/** An answer that nothing is known of: fail closed, and tell the operator its shape. */
export function unknownAnswer(response: VendorResponse, code?: string): Refused {
  return refusedBy('unknown_answer', detailOf(response, code));
}

/** "HTTP 429 rate_limit_exceeded": the status and the vendor's code, when that is a plain word. */
export function detailOf({ status }: VendorResponse, code?: unknown): string {
  return typeof code === 'string' && /^[\w.:/ -]{1,80}$/.test(code)
    ? `HTTP ${status} ${code}`
    : `HTTP ${status}`;
}
