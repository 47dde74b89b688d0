/** The public API over HTTP, for the canary. */
import type { Clock } from '../values/runtime.ts';

/** API Gateway answers within 30 s. A client that waits longer than this would give up. */
const answerMillis = 10_000;

export interface PublicApiOptions {
  /** The address of the API's root. It has no slash at its end. */
  readonly url: string;
  readonly key: string;
  readonly clock: Pick<Clock, 'timeout'>;
}

export function createPublicApi({ url, key, clock }: PublicApiOptions): PublicApi {
  const inTime = async <Result>(
    address: string,
    options: RequestInit,
    read: (answer: Response) => Promise<Result>,
  ): Promise<Result> => {
    const limit = clock.timeout(answerMillis);
    try {
      return await read(await fetch(address, { ...options, signal: limit.signal }));
    } finally {
      limit.release();
    }
  };
  return {
    send: async (path, { body, idempotencyKey } = {}) =>
      inTime(
        `${url}${path}`,
        {
          method: body === undefined ? 'GET' : 'POST',
          headers: {
            authorization: `Bearer ${key}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        },
        async (answer) => ({ status: answer.status, body: jsonOf(await answer.text()) }),
      ),
    fetchPicture: async (address) =>
      inTime(address, {}, async (answer) => ({
        status: answer.status,
        bytes: (await answer.arrayBuffer()).byteLength,
      })),
  };
}

function jsonOf(text: string): CanaryAnswer['body'] {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The public API as the canary sees it: over the network, with a key, as a client does. */

export interface CanaryAnswer {
  readonly status: number;
  /** The JSON of the body. Undefined when the body is no JSON. */
  readonly body: unknown;
}

export interface PublicApi {
  /** Sends a POST with a body, or a GET. Rejects without an answer in time. @param path such as "/balance" */
  send(
    path: string,
    options?: { readonly body?: object; readonly idempotencyKey?: string },
  ): Promise<CanaryAnswer>;
  /** Fetches a picture as anybody can, without a key. Rejects when no answer comes in time. */
  fetchPicture(url: string): Promise<{ readonly status: number; readonly bytes: number }>;
}
