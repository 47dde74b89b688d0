/** HTTPS for adapters: no repetition, no redirect, a limited answer, and whether it was sent. */
import { readVendorJson } from '../values/read-json.ts';
import {
  type CredentialCheck,
  CredentialsUnreadable,
  type ProviderAnswer,
  type Refused,
  refusedBy,
  type VendorSettings,
} from './provider.ts';

export interface VendorOptions {
  /** Has no slash at its end. */
  readonly baseUrl: string;
  /** Further hosts that an address in an answer may name, each with its subdomains. */
  readonly hosts: readonly string[];
  /** Sends a request. Absent: fetch() does, to any address. */
  readonly send?: Send;
}

export interface SentRequest {
  readonly method: VendorCall['method'];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | FormData;
  readonly signal: AbortSignal;
  /** The most bytes of an answer. A larger answer is refused with CallBroke. */
  readonly mostBytes: number;
}

/** Throws when no complete answer came. */
export type Send = (
  url: string,
  request: SentRequest,
) => Promise<Pick<VendorResponse, 'status' | 'headers'> & { readonly bytes: Buffer }>;

export interface VendorCall {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** A path under the base URL, or an address from an answer. */
  readonly to: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A plain object is sent as JSON, and URLSearchParams as the form that Stripe reads. */
  readonly body?: object | FormData | URLSearchParams;
  readonly signal: AbortSignal;
}

export interface VendorResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** The body as JSON. Undefined when the body is no JSON. */
  readonly json: unknown;
}

export type VendorHttp = ReturnType<typeof createVendorHttp>;

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

/** Nothing was sent, because the network of the provider does not allow an address of the host. */
export function addressRefused(): CallBroke {
  return new CallBroke('ADDRESS_REFUSED', false);
}

/** Enough for the largest picture of any vendor (a 4K PNG) in base64. */
const mostBytes = 96 * 1024 * 1024;

/** Codes of Node and undici for a connection that was never made, or whose certificate was refused. */
const neverConnected = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

export function createVendorHttp({ baseUrl, hosts, send = sendByFetch }: VendorOptions) {
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
    /** Throws CallBroke when no complete answer came, and the signal's reason when the signal aborts. */
    call: async ({ method, to, headers, body, signal }: VendorCall): Promise<VendorResponse> => {
      const url = to.startsWith('/') ? `${baseUrl}${to}` : to;
      if (!isOwn(url)) throw new Error("an address that is not the vendor's own was to be called");
      try {
        const answer = await send(url, { method, signal, mostBytes, ...sentBody(body, headers) });
        return { ...answer, json: parsed(answer.bytes, answer.headers) };
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof CallBroke) throw error;
        const code = codeOf(error);
        throw new CallBroke(code, !neverConnected.includes(code), error);
      }
    },
  };
}

const sendByFetch: Send = async (url, { mostBytes: most, ...request }) => {
  const response = await fetch(url, { ...request, redirect: 'manual' });
  return { status: response.status, headers: response.headers, bytes: await readBounded(response, most) };
};

/** The type of a form holds the form's boundary. The code that sends the form sets the type. */
function sentBody(
  body: VendorCall['body'],
  headers: VendorCall['headers'],
): Pick<SentRequest, 'headers' | 'body'> {
  if (body === undefined) return { headers: { ...headers } };
  if (body instanceof FormData) return { headers: { ...headers }, body };
  if (body instanceof URLSearchParams)
    return {
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: body.toString(),
    };
  return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

async function readBounded(response: Response, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > most) throw new CallBroke('TOO_LARGE', true);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads the text where it lies: a copy of a large picture would cost a renderer that much memory. */
function parsed(bytes: Buffer, headers: Headers): unknown {
  if (!/\bjson\b/.test(headers.get('content-type') ?? '')) return undefined;
  return readVendorJson(bytes.toString('utf8'));
}

/** fetch() puts the code into the cause, a socket into the error; of several addresses, the first. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : undefined;
  const causes: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  const [first] = causes;
  const code = first instanceof Error && 'code' in first ? String(first.code) : '';
  return code === '' ? 'UNKNOWN' : code;
}

/** Turns an error into an answer: unavailable if the vendor never saw the request, or else unknown. */
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

/** No vendor can send us away for longer: two minutes are a fifth of the longest deadline. */
const mostWaitMillis = 120_000;

/**
 * Milliseconds for which a vendor that throttles us or is down wants to be left alone: Retry-After in seconds or
 * as a date (RFC 9110, 10.2.3), or retry-after-ms, which OpenAI's libraries read first (openai 6.49.0). A date
 * counts from the Date of the same answer, so that no clock but the vendor's matters. Nonsense is ignored.
 *
 * Not verified: which of the vendors send the header. None of the pages that the adapters name promises it.
 */
export function retryAfterOf({
  status,
  headers,
}: Pick<VendorResponse, 'status' | 'headers'>): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const millis = millisOf(headers.get('retry-after-ms'), 1) ?? waitOf(headers);
  return millis === undefined ? undefined : Math.min(Math.ceil(millis), mostWaitMillis);
}

function waitOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  const millis = millisOf(text, 1000);
  if (millis !== undefined || text === null || !/^[A-Z][a-z]{2},/.test(text)) return millis;
  const wait = Date.parse(text) - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

/** A plain number of units, each of the given number of milliseconds. */
function millisOf(text: string | null, unit: number): number | undefined {
  return text !== null && /^\d{1,9}(\.\d{1,9})?$/.test(text.trim()) ? Number(text) * unit : undefined;
}

/** "HTTP 429 rate_limit_exceeded": the status, and the vendor's code when it is a plain word. */
export function detailOf({ status }: VendorResponse, code?: unknown): string {
  return typeof code === 'string' && /^[\w.:/ -]{1,80}$/.test(code)
    ? `HTTP ${status} ${code}`
    : `HTTP ${status}`;
}

// Asks a vendor about our key by one call that costs nothing.

/** @param call needs a valid key @param judge reads the answer. Absent: the HTTP status decides */
export async function checkByCall(
  { name, credentials }: VendorSettings,
  call: (key: string) => Promise<VendorResponse>,
  judge: (response: VendorResponse) => CredentialCheck = judgeByStatus,
): Promise<CredentialCheck> {
  const key = await credentials.read(name);
  if (key === undefined) return { verdict: 'unchecked', detail: 'no credential' };
  try {
    return judge(await call(key));
  } catch (error) {
    if (!(error instanceof CallBroke)) throw error;
    return { verdict: 'unreachable', detail: error.code };
  }
}

function judgeByStatus(response: VendorResponse): CredentialCheck {
  return { verdict: verdictOn(response.status), detail: detailOf(response) };
}

function verdictOn(status: number): CredentialCheck['verdict'] {
  if (status >= 200 && status < 300) return 'accepted';
  if ([401, 402, 403].includes(status)) return 'refused';
  return status === 429 || status >= 500 ? 'unreachable' : 'unchecked';
}

// Reads JSON of a vendor. Nothing about its shape is certain.

/** The fields of an object. Any other value has no fields. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** One field of an object. Undefined for any other value. */
export function propertyOf(value: unknown, key: string): unknown {
  return fieldsOf(value)[key];
}

/** Looks up a vendor's word in one of our tables. A word such as `constructor` is in no table. */
export function entryOf<Value>(
  table: Readonly<Partial<Record<string, Value>>>,
  word: string,
): Value | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

/** The items of an array. Any other value has no items. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
