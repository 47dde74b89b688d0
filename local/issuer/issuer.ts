/**
 * The issuer of the one machine: a real OpenID Connect provider, with one page on which a developer chooses who
 * to be. Its library is loaded at the first request, because most starts of the service never sign anybody in.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IssuerOptions } from './options.ts';

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
