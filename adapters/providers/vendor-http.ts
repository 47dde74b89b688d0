/**
 * HTTPS for every vendor's adapter. A call is never repeated, follows no redirect, and reads a limited
 * answer. An error says whether the vendor surely never saw the request, or may have accepted it.
 */
import { CredentialsUnreadable, refusedBy, type ProviderAnswer, type Refused } from '../../core/provider.ts';

export interface VendorOptions {
  /** Has no slash at its end. */
  readonly baseUrl: string;
  /** Further hosts that an address in an answer may name, each with its subdomains. */
  readonly hosts: readonly string[];
}

export interface VendorCall {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** A path under the base URL, or an address from an answer. */
  readonly to: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A plain object is sent as JSON. */
  readonly body?: object | FormData;
  readonly signal: AbortSignal;
}

export interface VendorResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** The body as JSON. Undefined when the body is no JSON. */
  readonly json: unknown;
}

export interface VendorHttp {
  /** Throws CallBroke when no complete answer came, and the signal's reason when the signal aborts. */
  call(call: VendorCall): Promise<VendorResponse>;
  /** Whether an address from an answer belongs to the vendor. */
  isOwn(url: string): boolean;
}

/** No complete answer came. */
export class CallBroke extends Error {
  override readonly name = 'CallBroke';
  /** False: the vendor surely never saw the request. */
  readonly perhapsAccepted: boolean;
  /** A code such as ECONNRESET, never an address. */
  readonly code: string;
  constructor(code: string, perhapsAccepted: boolean, cause?: unknown) {
    super(`the call broke: ${code}`, { cause });
    this.code = code;
    this.perhapsAccepted = perhapsAccepted;
  }
}

/** Enough for the largest picture of any vendor (a 4K PNG) in base64. */
const mostBytes = 96 * 1024 * 1024;

/** Codes of Node and undici for a connection that was never made, so that nothing was sent. */
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
          ...sentBody(body, headers),
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

/** fetch() itself sets the type of a form, which holds the form's boundary. */
function sentBody(body: VendorCall['body'], headers: VendorCall['headers']): RequestInit {
  if (body === undefined) return { headers: { ...headers } };
  if (body instanceof FormData) return { headers: { ...headers }, body };
  return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

async function readBounded(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > mostBytes) throw new CallBroke('TOO_LARGE', true);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads the text where it lies: a copy of a large picture would cost a renderer that much memory. */
function parsed(bytes: Buffer, headers: Headers): unknown {
  if (!/\bjson\b/.test(headers.get('content-type') ?? '')) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * fetch() puts the code into the cause. If it tried several addresses, the code is in the first of the
 * cause's errors.
 */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const causes: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  const [first] = causes;
  const code = first instanceof Error && 'code' in first ? String(first.code) : '';
  return code === '' ? 'UNKNOWN' : code;
}

/**
 * Turns an error into an answer. If the vendor surely never saw the request, the vendor is unavailable.
 * Otherwise the outcome is unknown.
 */
export async function answering(work: () => Promise<ProviderAnswer>): Promise<ProviderAnswer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CredentialsUnreadable) return refusedBy('credentials', 'the secret cannot be read');
    if (!(error instanceof CallBroke)) throw error;
    return refusedBy(error.perhapsAccepted ? 'unknown_outcome' : 'unavailable', error.code);
  }
}

/** An answer that the adapter does not know. It is refused, and the operator learns its status and code. */
export function unknownAnswer(response: VendorResponse, code?: string): Refused {
  return refusedBy('unknown_answer', detailOf(response, code));
}

/** "HTTP 429 rate_limit_exceeded": the status, and the vendor's code when it is a plain word. */
export function detailOf({ status }: VendorResponse, code?: unknown): string {
  return typeof code === 'string' && /^[\w.:/ -]{1,80}$/.test(code)
    ? `HTTP ${status} ${code}`
    : `HTTP ${status}`;
}
