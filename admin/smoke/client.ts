/** The client of the smoke test. It knows only the address of the API and a key. */
import * as z from 'zod';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

interface SmokeRequest {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
}

export type SmokeClient = ReturnType<typeof createSmokeClient>;

/** A step failed. The message is one sentence that says what to check. */
export class SmokeError extends Error {
  override readonly name = 'SmokeError';
}

/** A JSON object. */
export const bodySchema = z.record(z.string(), z.unknown());

const timeoutMillis = 30_000;

/** `api` is the address in the stack's output ApiUrl. */
export function createSmokeClient(api: string, key: string) {
  const root = api.replace(/\/+$/, '');
  return {
    /** Throws SmokeError when the address does not answer. */
    send: async (path: string, { body, headers, key: otherKey }: SmokeRequest = {}): Promise<Reply> => {
      const response = await reach(`${root}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          authorization: `Bearer ${otherKey ?? key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: objectOf(text, response.status) };
    },
    /** Fetches a picture without a key, as anybody can. */
    fetchImage: async (url: string) => {
      const response = await reach(url, {});
      return {
        status: response.status,
        contentType: response.headers.get('content-type'),
        bytes: new Uint8Array(await response.arrayBuffer()),
      };
    },
  };
}

async function reach(url: string, options: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...options, signal: AbortSignal.timeout(timeoutMillis) });
  } catch (error) {
    const cause =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new SmokeError(
      `${new URL(url).origin} does not answer (${cause}): compare --api with the stack's output ApiUrl.`,
    );
  }
}

function objectOf(text: string, status: number): Readonly<Record<string, unknown>> {
  try {
    return bodySchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new SmokeError(
      `the answer ${status} is no JSON object: is --api the root of Darkroom's API, with its /api/public/v1?`,
      { cause },
    );
  }
}
