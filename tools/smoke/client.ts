/** The public API as the smoke test calls it: from outside, with a key, and nothing else. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface SmokeClient {
  /** Throws SmokeError when the address does not answer. */
  send(
    path: string,
    options?: {
      readonly body?: object;
      readonly headers?: Readonly<Record<string, string>>;
      readonly key?: string;
    },
  ): Promise<Reply>;
  /** A picture, as anybody fetches it. */
  fetchImage(
    url: string,
  ): Promise<{ readonly status: number; readonly contentType: string | null; readonly bytes: Uint8Array }>;
}

/** A step that did not do what it should: one sentence, and what to look at. */
export class SmokeError extends Error {
  override readonly name = 'SmokeError';
}

const timeoutMillis = 30_000;

/** `api` is the root that the stack's output ApiUrl names. */
export function createSmokeClient(api: string, key: string): SmokeClient {
  const root = api.replace(/\/+$/, '');
  return {
    send: async (path, { body, headers, key: otherKey } = {}) => {
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
    fetchImage: async (url) => {
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
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null) return body as Readonly<Record<string, unknown>>;
  } catch {
    // Said below.
  }
  throw new SmokeError(
    `the answer ${status} is no JSON object: is --api the root of Darkroom's API, with its /api/public/v1?`,
  );
}
