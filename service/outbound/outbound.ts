/**
 * Every request to a URL that a client gave goes through here: webhooks, source images and test deliveries.
 * Each hop is checked, and the connection goes to the checked addresses. So a host name that points to a
 * private address a moment later is not followed there.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { unlessAborted } from '../aws/clock.ts';
import {
  maxSourceBytes,
  resolveMillis,
  sourceRedirects,
  sourceTimeoutMillis,
  webhookAttemptMillis,
  webhookResponseBytes,
} from '../contract/limits.ts';
import type { Clock } from '../values/runtime.ts';
import type { OutboundRules, Purpose } from './client-url.ts';
import {
  type Connect,
  exchange,
  type Exchange,
  type ExchangeAnswer,
  findTarget,
  type Resolve,
  resolveBySystem,
  type Target,
} from './pinned-exchange.ts';

export interface OutboundServices {
  readonly clock: Pick<Clock, 'timeout'>;
  /** Absent: the system resolves names. */
  readonly resolve?: Resolve;
  /** Absent: the system opens sockets. */
  readonly connect?: Connect;
}

const agentName = 'Darkroom/1';

export function createOutbound(
  rules: OutboundRules,
  { clock, resolve = resolveBySystem, connect }: OutboundServices,
) {
  const within = <Value>(
    millis: number,
    outer: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value> => inTime(clock, millis, outer, work);
  // The system's resolver has no time limit of its own.
  const find = (text: string, purpose: Purpose, outer?: AbortSignal): Promise<Target> =>
    findTarget(text, purpose, rules, (host) =>
      within(resolveMillis, outer, (signal) => unlessAborted(signal, resolve(host))),
    );
  const send = (options: Omit<Parameters<typeof exchange>[0], 'connect'>): Promise<ExchangeAnswer> =>
    exchange({ ...options, ...(connect && { connect }) });

  /** Sends one request to the address that it has just checked, and follows no redirect. */
  const request = (url: string, { millis, ...parts }: OutboundRequest): Promise<RequestResult> =>
    within(millis, undefined, async (signal) => {
      try {
        const target = await find(url, 'webhook', signal);
        if (signal.aborted) return unanswered.timeout;
        if (target.kind !== 'allowed') return unanswered[target.kind];
        return { kind: 'answered', ...(await send({ ...target, ...parts, signal })) };
      } catch (error) {
        return signal.aborted ? unanswered.timeout : failed(error);
      }
    });

  return {
    /** Whether a webhook may go to this address now. The signal ends a DNS query that takes too long. */
    check: async (url: string, outer?: AbortSignal): Promise<AddressVerdict> => {
      const target = await find(url, 'webhook', outer);
      switch (target.kind) {
        case 'allowed':
          return { kind: 'allowed' };
        case 'unresolved':
          return { kind: 'refused', why: 'must have a host name that resolves' };
        case 'refused':
          return target;
      }
    },
    /** Sends one POST of a webhook. */
    post: async (
      url: string,
      headers: Readonly<Record<string, string>>,
      body: string,
    ): Promise<PostResult> => {
      const answer = await request(url, {
        method: 'POST',
        headers,
        body,
        mostBytes: webhookResponseBytes,
        millis: webhookAttemptMillis,
      });
      if (answer.kind === 'unanswered') return answer;
      const { kind, status, body: bytes, headers: all } = answer;
      return { kind, status, excerpt: bytes.toString('utf8'), headers: shownHeaders(all) };
    },
    request,
    /** Downloads one source image. Follows the allowed number of redirects and checks the address of each. */
    fetchSource: (url: string, outer: AbortSignal): Promise<SourceResult> =>
      within(sourceTimeoutMillis, outer, async (signal) => {
        try {
          return await followed(url, signal);
        } catch {
          return { kind: 'failed', retryable: true };
        }
      }),
  };

  async function followed(first: string, signal: AbortSignal): Promise<SourceResult> {
    let address = first;
    for (let redirects = 0; redirects <= sourceRedirects; redirects += 1) {
      const target = await find(address, 'image', signal);
      if (target.kind === 'refused') return target;
      if (target.kind === 'unresolved') return { kind: 'failed', retryable: true };
      const headers = {
        'user-agent': agentName,
        accept: 'image/jpeg, image/png, image/webp',
        'accept-encoding': 'identity',
      };
      const answer = await send({ ...target, method: 'GET', headers, mostBytes: maxSourceBytes, signal });
      const next = redirectOf(answer, target.url);
      if (next === undefined) return sourceOf(answer);
      address = next;
    }
    return { kind: 'failed', retryable: false };
  }
}

/** Does work within a time limit of its own and within the caller's time limit. */
async function inTime<Value>(
  clock: Pick<Clock, 'timeout'>,
  millis: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const limit = clock.timeout(millis);
  try {
    return await work(outer ? AbortSignal.any([limit.signal, outer]) : limit.signal);
  } finally {
    limit.release();
  }
}

const redirectStatuses = [301, 302, 303, 307, 308];

function redirectOf({ status, location }: ExchangeAnswer, from: URL): string | undefined {
  if (!redirectStatuses.includes(status) || location === undefined) return undefined;
  return URL.canParse(location, from.href) ? new URL(location, from).href : location;
}

/** A 5xx or a 429 may be temporary. Every other status would come again. */
function sourceOf({ status, body, cut }: ExchangeAnswer): SourceResult {
  if (status >= 200 && status < 300) return cut ? { kind: 'too_large' } : { kind: 'fetched', bytes: body };
  return { kind: 'failed', retryable: status >= 500 || status === 429 };
}

/** One text for each header. The receiver's cookies are left out. */
function shownHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const { 'set-cookie': _cookies, ...shown } = headers;
  return Object.fromEntries(
    Object.entries(shown).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

type Unanswered = Extract<PostResult, { kind: 'unanswered' }>;

const unanswered = {
  timeout: { kind: 'unanswered', reason: 'timeout', failure: 'timeout' },
  refused: { kind: 'unanswered', reason: 'address refused', failure: 'address_refused' },
  unresolved: { kind: 'unanswered', reason: 'name not resolved', failure: 'dns' },
} as const satisfies Readonly<Record<string, Unanswered>>;

function failed(error: unknown): Unanswered {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return { kind: 'unanswered', reason: reasonOf(code), failure: failureOf(code) };
}

function reasonOf(code: string): string {
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'connection closed';
  if (/CERT|TLS|SSL/.test(code)) return 'tls';
  return 'no valid http answer';
}

/** The codes of Node: of sockets, of OpenSSL's verification, and of the parser of HTTP. */
const failures: Readonly<Record<string, FailureKind>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_closed',
  EPIPE: 'connection_closed',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  CERT_HAS_EXPIRED: 'tls_expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_self_signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_self_signed',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls_wrong_name',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls_chain',
  UNABLE_TO_GET_ISSUER_CERT: 'tls_chain',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls_chain',
  EPROTO: 'tls',
  HPE_HEADER_OVERFLOW: 'too_large',
};

function failureOf(code: string): FailureKind {
  return failures[code] ?? (/CERT|TLS|SSL/.test(code) ? 'tls' : 'no_http');
}

/** Connections to addresses that clients give. No other code connects to them. */

type AddressVerdict = { readonly kind: 'allowed' } | { readonly kind: 'refused'; readonly why: string };

/** Why no answer came, as the connection reported it. portal/delivery-view.ts has the words. */
export type FailureKind =
  | 'address_refused'
  | 'dns'
  | 'timeout'
  | 'connection_refused'
  | 'connection_closed'
  | 'unreachable'
  | 'tls'
  | 'tls_expired'
  | 'tls_self_signed'
  | 'tls_wrong_name'
  | 'tls_chain'
  | 'too_large'
  | 'no_http';

export type PostResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly excerpt: string;
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'unanswered'; readonly reason: string; readonly failure: FailureKind };

export interface OutboundRequest extends Pick<Exchange, 'method' | 'headers' | 'body' | 'mostBytes'> {
  /** The time of the whole request. */
  readonly millis: number;
}

export type RequestResult =
  | ({ readonly kind: 'answered' } & Pick<ExchangeAnswer, 'status' | 'headers' | 'body' | 'cut'>)
  | Unanswered;

export type SourceResult =
  | { readonly kind: 'fetched'; readonly bytes: Uint8Array }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'failed'; readonly retryable: boolean };

/** Connects to addresses that clients give. */
export type Outbound = ReturnType<typeof createOutbound>;
