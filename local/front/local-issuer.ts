import type { IncomingMessage, ServerResponse } from 'node:http';
import { signInPaths } from '../../service/contract/operations.ts';
import type { AwsEndpoint } from '../aws/endpoint.ts';
import { sendJson } from '../gateway/http-body.ts';
import { createIssuer, type Issuer } from '../issuer/issuer.ts';
import type { LocalTemplate } from '../template.ts';
import { portalPath } from './portal-front.ts';
import { secretValue } from './secret-values.ts';

/** The path of the issuer at which people of this machine sign in. */
export const issuerPath = '/_local/issuer';

export interface LocalIssuerOptions {
  readonly url: string;
  readonly template: LocalTemplate;
  readonly handle: AwsEndpoint['handle'];
  readonly now: () => number;
  /** The addresses that the page of the issuer offers. */
  readonly people: () => Promise<readonly string[]>;
}

/**
 * The issuer for the client that the template registers. It knows the client by the environment of the function
 * that signs people in, and is made at the first request.
 */
export function createLocalIssuer(
  options: LocalIssuerOptions,
): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> {
  let issuer: Promise<Issuer | undefined> | undefined;
  return async (incoming, outgoing) => {
    issuer ??= issuerOf(options);
    const known = await issuer;
    if (known) return known.handle(incoming, outgoing);
    incoming.resume();
    sendJson(outgoing, 404, { message: 'no function of this template signs people in' });
  };
}

async function issuerOf({
  url,
  template,
  handle,
  now,
  people,
}: LocalIssuerOptions): Promise<Issuer | undefined> {
  const environment = template.functions.find((fn) => 'PORTAL_CLIENT_ID' in fn.environment)?.environment;
  const { PORTAL_CLIENT_ID: id, SIGN_IN_SECRET_ARN: secretArn } = environment ?? {};
  if (id === undefined || secretArn === undefined) return undefined;
  return createIssuer({
    url: `${url}${issuerPath}`,
    client: { id, secret: await secretValue(handle, secretArn) },
    redirectUri: `${url}${signInPaths.callback}`,
    afterSignOut: `${url}${portalPath}/`,
    people,
    now,
  });
}
