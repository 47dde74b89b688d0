/** Reads the options of a client, and refuses those that cannot work in one sentence. */
import { DarkroomError } from './errors.ts';
import type { Retry } from './http/retry.ts';
import type { UserTokenSource } from './http/user-token.ts';

/** The options of every client. */
export interface ServiceOptions {
  /**
   * The address of the service, with or without the path of its API. The default is the environment variable
   * DARKROOM_BASE_URL.
   */
  readonly baseUrl?: string | undefined;
  /** The time limit of each attempt in milliseconds: 30,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** How often a request is sent again at most: 2 by default. */
  readonly maxRetries?: number | undefined;
  /** Instead of the fetch of the runtime, such as one with a proxy. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Is called before each retry. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/** The options of a client. */
export interface DarkroomOptions extends ServiceOptions {
  /** The key of your account. The default is the environment variable DARKROOM_API_KEY. */
  readonly apiKey?: string | undefined;
  /**
   * For a page, instead of a key: asks your server for a token of its user. It is called at the first request, before
   * the token ends, and when the service says that it has ended.
   */
  readonly userToken?: UserTokenSource | undefined;
  /**
   * Allows the client in a page. Everybody who opens the page can then read the key, and spend your money with it.
   */
  readonly dangerouslyAllowBrowser?: boolean | undefined;
}

/** The whole root of the API, without a slash at its end. */
export function rootOf(baseUrl: string, apiRoot = '/api/public/v1'): string {
  let url: URL;
  try {
    url = new URL(baseUrl.trim());
  } catch (cause) {
    throw new DarkroomError(`The base URL is no address: ${baseUrl}`, { cause });
  }
  if (!/^https?:$/.test(url.protocol)) {
    throw new DarkroomError(`The base URL must begin with https:// or http://, not with ${url.protocol}`);
  }
  // A program may use both APIs with one address.
  const path = url.pathname.replace(/(\/api\/(public|operator)\/v1)?\/*$/, '').replace(/\/+$/, '');
  return url.origin + path + apiRoot;
}

/** The key without blanks around it. The messages never repeat it: they may end in a log. */
export function usableKey(apiKey: string | undefined, variable = 'DARKROOM_API_KEY'): string {
  const key = apiKey?.trim() ?? '';
  if (key === '') {
    throw new DarkroomError(`An API key is needed: set ${variable}, or give the option apiKey.`);
  }
  // A header takes only such characters. fetch would repeat any other key in its message.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new DarkroomError('The API key has characters that no key has. Copy it again.');
  }
  return key;
}

/** The key of the options, or of the environment. */
export function keyOf({ apiKey }: { apiKey?: string | undefined }, variable = 'DARKROOM_API_KEY'): string {
  return usableKey(apiKey ?? environmentVariable(variable), variable);
}

/** A variable of the environment, where the runtime has one and lets it be read. */
export function environmentVariable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } };
  try {
    return process?.env?.[name];
  } catch {
    // Deno throws unless the program may read the environment.
    return undefined;
  }
}

/** A page has a window with a document. Servers and workers have none. */
export function isPage(): boolean {
  const { window } = globalThis as { window?: { document?: unknown } };
  return window?.document !== undefined;
}
