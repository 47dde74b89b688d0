/** The issuer of the one machine: a real OpenID Connect provider, which loads at the first request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { signInPaths } from '../../service/contract/operations.ts';
import type { AwsEndpoint } from '../aws/endpoint.ts';
import { portalPath, secretValue } from '../front/portal-front.ts';
import { type Handler, sendJson } from '../http.ts';
import type { LocalTemplate } from '../template.ts';
import type { IssuerOptions } from './provider.ts';

interface Issuer {
  /** Answers every request under the path of the issuer's address. */
  handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>;
}

export function createIssuer(options: IssuerOptions): Issuer {
  const { pathname } = new URL(options.url);
  let opening: Promise<Handler> | undefined;
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

/** The path of the issuer at which people of this machine sign in. */
export const issuerPath = '/_local/issuer';

/** The issuer for the client that the template registers. Its page offers the addresses of `people`. */
export function createLocalIssuer({
  url,
  template,
  handle,
  ...others
}: Pick<IssuerOptions, 'url' | 'people' | 'now'> & {
  readonly template: LocalTemplate;
  readonly handle: AwsEndpoint['handle'];
}): Handler {
  async function open(): Promise<Issuer | undefined> {
    const environment = template.functions.find((fn) => 'PORTAL_CLIENT_ID' in fn.environment)?.environment;
    const { PORTAL_CLIENT_ID: id, SIGN_IN_SECRET_ARN: secretArn } = environment ?? {};
    if (id === undefined || secretArn === undefined) return undefined;
    return createIssuer({
      url: `${url}${issuerPath}`,
      client: { id, secret: await secretValue(handle, secretArn) },
      redirectUri: `${url}${signInPaths.callback}`,
      afterSignOut: `${url}${portalPath}/`,
      ...others,
    });
  }
  let issuer: ReturnType<typeof open> | undefined;
  return async (incoming, outgoing) => {
    const known = await (issuer ??= open());
    if (known) return known.handle(incoming, outgoing);
    incoming.resume();
    sendJson(outgoing, 404, { message: 'no function of this template signs people in' });
  };
}
