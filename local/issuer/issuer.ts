/**
 * The issuer of the one machine: a real OpenID Connect provider, with one page on which a developer chooses who
 * to be. Its library is loaded at the first request, because most starts of the service never sign anybody in.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface IssuerOptions {
  /** The issuer's own address, without a slash at its end: http://127.0.0.1:8787/_local/issuer. */
  readonly url: string;
  readonly client: { readonly id: string; readonly secret: string };
  /** Where the browser comes back to after a sign-in. */
  readonly redirectUri: string;
  /** Where the browser comes back to after a sign-out. */
  readonly afterSignOut: string;
  /** The addresses that the page offers. */
  readonly people: () => Promise<readonly string[]>;
  /** Unix milliseconds of the virtual clock, by which the service reads the tokens. */
  readonly now: () => number;
}

export interface Issuer {
  /** Answers every request under the path of the issuer's address. */
  handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>;
}

export function createIssuer(options: IssuerOptions): Issuer {
  const { pathname } = new URL(options.url);
  let opening: Promise<(incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>> | undefined;
  return {
    handle: async (incoming, outgoing) => {
      opening ??= import('./provider.ts').then(({ createProvider }) => createProvider(options));
      const answer = await opening;
      // The provider makes its own addresses from the difference between these two.
      const whole = incoming.url ?? '/';
      Object.assign(incoming, { originalUrl: whole, url: whole.slice(pathname.length) || '/' });
      await answer(incoming, outgoing);
    },
  };
}
