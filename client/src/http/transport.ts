/** Sends the requests of the API: with the key, an Idempotency-Key for each POST, and retries. */
import {
  ApiError,
  ConnectionError,
  DarkroomError,
  RateLimited,
  ServiceUnavailable,
  TimeoutError,
  UnexpectedAnswer,
} from '../errors.ts';
import {
  type Answered,
  apiPromise,
  type ApiPromise,
  type CallOptions,
  type PostOptions,
  version,
} from './call.ts';
import { errorOfAnswer, parseJson, retryAfterSeconds } from './error-of-answer.ts';
import type { Machinery } from './machinery.ts';
import { isPage } from '../options.ts';
import type { Authorization } from './user-token.ts';
import { isTemporary, pauseAfter, type Retry, waitBeforeRetry } from './retry.ts';

/** The body of a request, by its name in each library of types: the one of Node and the one of browsers. */
type Body = NonNullable<RequestInit['body']>;

/** One request and its whole answer, within a time limit and until a signal is aborted. */
export interface Exchange {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Body;
  readonly redirect: NonNullable<RequestInit['redirect']>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * The answer with its body in memory, so that a connection that breaks in the body counts as broken, too.
 * Throws a ConnectionError, a TimeoutError, or the reason of the signal.
 */
async function exchange(
  fetch: typeof globalThis.fetch,
  { url, timeoutMs, signal, ...init }: Exchange,
): Promise<{ readonly response: Response; readonly bytes: ArrayBuffer }> {
  signal?.throwIfAborted();
  // AbortSignal.any and its like are younger than Node 20.0, and a timer of AbortSignal.timeout cannot be cleared.
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal?.reason);
  const late = new TimeoutError(`No answer arrived within ${timeoutMs / 1000} s.`);
  const timer = setTimeout(() => controller.abort(late), timeoutMs);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const response = await fetch(url, { ...init, signal: controller.signal });
    return { response, bytes: await response.arrayBuffer() };
  } catch (error) {
    signal?.throwIfAborted();
    if (controller.signal.aborted) throw late;
    throw new ConnectionError(`The connection to ${new URL(url).origin} failed${because(error)}.`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/** fetch says only "fetch failed". Its cause has the words that help: ECONNREFUSED, or the name of a host. */
function because(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : undefined;
  return cause instanceof Error && cause.message !== '' ? `: ${cause.message.replace(/[.?!]$/, '')}` : '';
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the root of the API, with its ids encoded. */
  readonly path: string;
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: object | undefined;
  readonly options?: PostOptions | undefined;
  /** Seconds for which the service may hold its answer. */
  readonly hold?: number | undefined;
  /** Repeats the request within a time limit, instead of a number of times. */
  readonly within?: TimeLimit | undefined;
}

/** The time limit of a wait. */
export interface TimeLimit {
  readonly started: number;
  readonly timeoutMs: number;
  readonly leastPauseMs?: number;
}

/** The most seconds for which the service holds an answer. */
export const longestHold = 20;
/** An attempt whose answer is held may take this much longer than it is held, in milliseconds. */
const holdMargin = 15_000;
/** The least time that an attempt gets: the answer to a submission names the creation. */
const leastMillis = 1000;

export interface TransportOptions {
  /** The root of the API, without a slash at its end. */
  readonly root: string;
  /** The key itself is in no object that could be printed. */
  readonly authorization: Authorization;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly fetch: typeof globalThis.fetch;
  readonly onRetry: ((retry: Retry) => void) | undefined;
  readonly machinery: Machinery;
}

/** A request to another server, without the key: an upload, or an image. */
export interface ForeignCall {
  readonly url: string;
  readonly method: 'GET' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Body;
  readonly options: CallOptions | undefined;
}

interface Repeated {
  readonly method: string;
  readonly path: string;
  readonly signal: AbortSignal | undefined;
  readonly within?: TimeLimit | undefined;
}

interface Attempted {
  readonly response: Response;
  readonly bytes: ArrayBuffer;
}

export class Transport {
  readonly machinery: Machinery;
  readonly root: string;
  readonly #options: TransportOptions;
  /** When a creation may be polled again, as the answer said that it was read from. */
  readonly #due = new WeakMap<object, number>();

  constructor(options: TransportOptions) {
    this.#options = options;
    this.machinery = options.machinery;
    this.root = options.root;
  }

  /** Sends a request to the API, and reads its JSON. */
  call<Value>(call: Call): ApiPromise<Value> {
    return apiPromise(this.answer<Value>(call));
  }

  /** A whole list of the API. */
  rows<Item>(path: string, options?: CallOptions): ApiPromise<readonly Item[]> {
    const list = this.answer<{ readonly data: readonly Item[] }>({ method: 'GET', path, options });
    return apiPromise(list.then(({ value, response }) => ({ value: value.data, response })));
  }

  /** As call(), with the answer beside the value. */
  async answer<Value>({ method, path, query, body, options = {}, ...more }: Call): Promise<Answered<Value>> {
    const idempotencyKey = method === 'POST' ? (options.idempotencyKey ?? this.machinery.uuid()) : undefined;
    if (idempotencyKey !== undefined && !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) {
      throw new DarkroomError('An Idempotency-Key has 1 to 255 printable ASCII characters.');
    }
    const url = `${this.root}${path}${queryText(query)}`;
    const { within, hold: mostHold = 0 } = more;
    const { now } = this.machinery;
    const { header, renew } = this.#options.authorization;
    let authorization = '';
    const attemptOnce = async (): Promise<Answered<Value>> => {
      const left = Math.max(leastMillis, leftOf(within, now()) ?? Infinity);
      // The held answer has to arrive before the end.
      const hold = Math.min(mostHold, Math.floor(left / 1000) - 1);
      authorization = await header();
      const sent = {
        url,
        method,
        headers: {
          accept: 'application/json',
          // A page may not send another header than those that the service allows.
          ...(!isPage() && { 'user-agent': `darkroom-client/${version}` }),
          authorization,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
          ...(hold > 0 && method === 'POST' && { prefer: `wait=${hold}` }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'manual',
        timeoutMs: Math.min(
          Math.max(options.timeoutMs ?? this.#options.timeoutMs, hold > 0 ? hold * 1000 + holdMargin : 0),
          left,
        ),
        signal: options.signal,
      } as const;
      return this.#read<Value>(await exchange(this.#options.fetch, sent));
    };
    try {
      return await this.#repeat({ method, path, signal: options.signal, within }, async () =>
        attemptOnce().catch(async (error: unknown) => {
          // Once: a token that is refused at once says why.
          if (renew(authorization, error)) return attemptOnce();
          throw error;
        }),
      );
    } catch (error) {
      if (error instanceof DarkroomError && idempotencyKey !== undefined) {
        error.idempotencyKey = idempotencyKey;
        if (within && isTemporary(error))
          error.message += ` Given up after ${(now() - within.started) / 1000} of ${within.timeoutMs / 1000} s, with the Idempotency-Key ${idempotencyKey}.`;
      }
      throw error;
    }
  }

  /**
   * Sends a request to a server that is not the API. It never gets the key. Returns the answer with its
   * bytes.
   */
  async foreign({ url, method, headers = {}, body, options = {} }: ForeignCall): Promise<Attempted> {
    const sent = {
      ...foreignTarget(url, headers, this.root),
      method,
      ...(body !== undefined && { body }),
      redirect: 'follow',
      timeoutMs: options.timeoutMs ?? this.#options.timeoutMs,
      signal: options.signal,
    } as const;
    // The address of an upload or an image may be all that is needed to use it: it is in no message.
    return this.#repeat({ method, path: new URL(url).origin, signal: options.signal }, async () => {
      const attempted = await exchange(this.#options.fetch, sent);
      if (!attempted.response.ok) throw this.#foreignError(attempted);
      return attempted;
    });
  }

  /** The time before which this creation must not be polled, if the answer named one. */
  dueOf(creation: object): number | undefined {
    return this.#due.get(creation);
  }

  async #repeat<Value>(
    { signal, within, ...told }: Repeated,
    attemptOnce: () => Promise<Value>,
  ): Promise<Value> {
    const { maxRetries, onRetry, machinery } = this.#options;
    let unclear: unknown;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await attemptOnce();
      } catch (error) {
        const left = leftOf(within, machinery.now());
        const pause = pauseAfter(error, attempt, machinery.random);
        const waitMs = waitBeforeRetry(
          error,
          Math.max(within?.leastPauseMs ?? 0, pause),
          left,
          attempt > maxRetries,
        );
        if (waitMs === undefined) {
          // An attempt before this one may have been carried out.
          if (unclear && error instanceof ApiError) error.cause = unclear;
          throw error;
        }
        if (!(error instanceof ServiceUnavailable || error instanceof RateLimited)) unclear = error;
        onRetry?.({ ...told, attempt, waitMs, error: error as Error });
        await machinery.sleep(waitMs, signal);
      }
    }
  }

  #read<Value>({ response, bytes }: Attempted): Answered<Value> {
    const text = new TextDecoder().decode(bytes);
    const value = response.status === 204 ? {} : parseJson(text);
    const now = this.machinery.now();
    if (!response.ok || typeof value !== 'object' || value === null) {
      throw errorOfAnswer(response, text, value, now);
    }
    const seconds = retryAfterSeconds(response.headers, now);
    if (seconds !== undefined) this.#due.set(value, now + seconds * 1000);
    return { value: value as Value, response: copyOf(response, bytes) };
  }

  #foreignError({ response, bytes }: Attempted): UnexpectedAnswer {
    const { status, headers } = response;
    return new UnexpectedAnswer(
      {
        status,
        message: `The storage answered with status ${status}.`,
        requestId: headers.get('x-amz-request-id') ?? undefined,
        retryAfter: retryAfterSeconds(headers, this.machinery.now()),
      },
      new TextDecoder().decode(bytes),
    );
  }
}

function leftOf(within: TimeLimit | undefined, now: number): number | undefined {
  return within && within.started + within.timeoutMs - now;
}

/** An answer with an unread body. */
function copyOf({ status, statusText, headers }: Response, bytes: ArrayBuffer): Response {
  return new Response(bytes.byteLength === 0 ? null : bytes, { status, statusText, headers });
}

/**
 * The service names the address and the headers, and it may be hostile. An address of the web is used, with TLS when
 * the API itself has TLS.
 */
function foreignTarget(
  url: string,
  given: Readonly<Record<string, string>>,
  root: string,
): { readonly url: string; readonly headers: Record<string, string> } {
  try {
    const { protocol, username, password } = new URL(url);
    const isOfWeb = protocol === 'https:' || (protocol === 'http:' && root.startsWith('http:'));
    const headers = new Headers(given);
    // fetch sets the length itself, and refuses the header.
    headers.delete('content-length');
    if (isOfWeb && username + password === '') return { url, headers: Object.fromEntries(headers) };
  } catch {
    // The sentence below says it.
  }
  throw new DarkroomError('The service named an address or a header that cannot be used. Nothing was sent.');
}

function queryText(query: Query | undefined): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  const pairs = given.map(([name, value]): [string, string] => [name, String(value)]);
  const text = new URLSearchParams(pairs).toString();
  return text === '' ? '' : `?${text}`;
}
