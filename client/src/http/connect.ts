/** What the clients of both APIs share: the connection, and how they are printed. */
import { DarkroomError } from '../errors.ts';
import { environmentVariable, rootOf, type ServiceOptions } from '../options.ts';
import { type Machinery, machineryOf } from './machinery.ts';
import { Transport } from './transport.ts';
import type { Authorization } from './user-token.ts';

const defaultTimeoutMillis = 30_000;
const defaultRetries = 2;

/** The connection to an API of the service. @param apiRoot the path of this API */
export function transportOf(
  { baseUrl = environmentVariable('DARKROOM_BASE_URL'), fetch, ...options }: ServiceOptions,
  authorizationOf: (machinery: Machinery) => Authorization,
  apiRoot?: string,
): Transport {
  if (baseUrl === undefined || baseUrl.trim() === '') {
    throw new DarkroomError(
      'The address of the service is needed: set DARKROOM_BASE_URL, or give the option baseUrl.',
    );
  }
  const machinery = machineryOf(options);
  return new Transport({
    root: rootOf(baseUrl, apiRoot),
    authorization: authorizationOf(machinery),
    timeoutMs: options.timeoutMs ?? defaultTimeoutMillis,
    maxRetries: options.maxRetries ?? defaultRetries,
    // Some runtimes refuse a fetch that is called as the method of another object.
    fetch: async (input, init) => (fetch ?? globalThis.fetch)(input, init),
    onRetry: options.onRetry,
    machinery,
  });
}

/** Makes console.log of Node, Bun and Deno print what toString() gives: the address, and never the key. */
export function printAsText(client: { toString(): string }): void {
  const inspect = Symbol.for('nodejs.util.inspect.custom');
  Object.defineProperty(client, inspect, { value: () => client.toString() });
}
