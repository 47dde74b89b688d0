/** OpenID Connect: code flow with PKCE, state and nonce, with a secret (RFC 7636, RFC 9207). */
import * as oauth from 'oauth4webapi';
import { cappedFetch } from '../../outbound/capped-fetch.ts';
import type { Clock } from '../../values/runtime.ts';

// The issuer that identifies people (OpenID Connect).

export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

interface SignInRequest extends SignInSecrets {
  readonly redirectUri: string;
  /** True: the issuer asks for the person's proof again. */
  readonly isFresh: boolean;
  readonly maxAgeSeconds: number;
}

export interface Claims {
  readonly issuer: string;
  readonly subject: string;
  readonly email?: string;
  readonly emailVerified: boolean;
  /** Unix seconds at which the person proved who they are. Absent: the issuer does not say. */
  readonly authTime?: number;
}

/** Every function throws IssuerUnavailable when the issuer does not answer, or answers nonsense. */
export interface IdentityProvider {
  newSecrets(): SignInSecrets;
  authorizationUrl(request: SignInRequest): Promise<string>;
  /** Redeems the address of the callback. @throws SignInRefused, or SignInCancelled by the person */
  redeem(callback: URL, begun: SignInSecrets & { readonly redirectUri: string }): Promise<Claims>;
  /** Where the person also signs out at the issuer. Undefined: the issuer has no such address. */
  endSessionUrl(returnTo: string): Promise<string | undefined>;
}

/** The issuer cannot be reached, or it answers nonsense. This may pass. */
export class IssuerUnavailable extends Error {
  override readonly name = 'IssuerUnavailable';
}

/** The sign-in did not end as it has to. The person may begin again. */
export class SignInRefused extends Error {
  override readonly name = 'SignInRefused';
}

export class SignInCancelled extends Error {
  override readonly name = 'SignInCancelled';
}

/** For how long the description of the issuer, with its keys, is used without another read. */
const cacheMillis = 3_600_000;
/** All calls of one step of a sign-in together. */
const stepMillis = 8_000;

export interface OpenidOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: () => Promise<string>;
  readonly clock: Pick<Clock, 'elapsed' | 'timeout'>;
}

interface CallOptions {
  signal: AbortSignal;
  [oauth.customFetch]: (address: string, init: object) => Promise<Response>;
  // The library marks it to make it stand out. It is true only for an issuer on this machine.
  // oxlint-disable-next-line typescript/no-deprecated
  [oauth.allowInsecureRequests]: boolean;
}

/** Makes the issuer's clients, one for the time of each request. What they learn of the issuer is shared. */
export function createOpenid(options: OpenidOptions): (signal: AbortSignal) => IdentityProvider {
  const { issuer, clientId, clientSecret, clock } = options;
  const client: oauth.Client = { client_id: clientId };
  const isOnLoopback = isLoopback(new URL(issuer));
  let held: { readonly server: oauth.AuthorizationServer; readonly until: number } | undefined;

  const discover = async (call: CallOptions): Promise<oauth.AuthorizationServer> => {
    if (held && held.until > clock.elapsed()) return held.server;
    try {
      const address = new URL(issuer);
      const server = await oauth.processDiscoveryResponse(
        address,
        await oauth.discoveryRequest(address, call),
      );
      held = { server, until: clock.elapsed() + cacheMillis };
      return server;
    } catch (error) {
      // The keys and addresses of an hour ago are better than none.
      if (held) return held.server;
      throw new IssuerUnavailable('the issuer does not describe itself', { cause: error });
    }
  };
  const endpoint = (address: string | undefined): URL => {
    const url = URL.parse(address ?? '');
    if (url?.protocol === 'https:' || (isOnLoopback && url && isLoopback(url))) return url;
    throw new IssuerUnavailable('the issuer names no address that can be used');
  };

  return (outer) => {
    const inTime = async <Value>(step: (call: CallOptions) => Promise<Value>): Promise<Value> => {
      const limit = clock.timeout(stepMillis);
      try {
        return await step({
          signal: AbortSignal.any([limit.signal, outer]),
          [oauth.customFetch]: cappedFetch,
          // oxlint-disable-next-line typescript/no-deprecated
          [oauth.allowInsecureRequests]: isOnLoopback,
        });
      } finally {
        limit.release();
      }
    };
    return {
      newSecrets: () => ({
        state: oauth.generateRandomState(),
        nonce: oauth.generateRandomNonce(),
        codeVerifier: oauth.generateRandomCodeVerifier(),
      }),
      authorizationUrl: (request) =>
        inTime(async (call) => {
          const server = await discover(call);
          const url = endpoint(server.authorization_endpoint);
          const parameters = await parametersOf(request, clientId, freshPrompt(server));
          for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
          return url.href;
        }),
      redeem: (callback, { state, nonce, codeVerifier, redirectUri }) =>
        inTime(async (call) => {
          const server = await discover(call);
          const secret = await clientSecret();
          endpoint(server.token_endpoint);
          try {
            const parameters = oauth.validateAuthResponse(server, client, callback, state);
            const proof = takesBasic(server)
              ? oauth.ClientSecretBasic(secret)
              : oauth.ClientSecretPost(secret);
            const answer = await oauth.authorizationCodeGrantRequest(
              server,
              client,
              proof,
              parameters,
              redirectUri,
              codeVerifier,
              call,
            );
            const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, {
              expectedNonce: nonce,
              requireIdToken: true,
            });
            await oauth.validateApplicationLevelSignature(server, answer, call);
            return claimsOf(tokens);
          } catch (error) {
            throw meaningOf(error);
          }
        }),
      endSessionUrl: (returnTo) =>
        inTime(async (call) => {
          const { end_session_endpoint: address } = await discover(call);
          if (address === undefined) return undefined;
          const url = endpoint(address);
          url.searchParams.set('client_id', clientId);
          url.searchParams.set('post_logout_redirect_uri', returnTo);
          // Amazon Cognito has a name of its own for it.
          url.searchParams.set('logout_uri', returnTo);
          return url.href;
        }),
    };
  };
}

/** How an issuer is asked for a new proof. Google refuses `login`: the person chooses an account. */
export function freshPrompt(server: {
  readonly issuer: string;
  readonly prompt_values_supported?: unknown;
}): string {
  const { issuer, prompt_values_supported: stated } = server;
  const takesLogin = Array.isArray(stated)
    ? stated.includes('login')
    : new URL(issuer).hostname !== 'accounts.google.com';
  return takesLogin ? 'login' : 'select_account';
}

async function parametersOf(
  request: SignInRequest,
  clientId: string,
  prompt: string,
): Promise<Record<string, string>> {
  return {
    client_id: clientId,
    redirect_uri: request.redirectUri,
    response_type: 'code',
    scope: 'openid email',
    code_challenge: await oauth.calculatePKCECodeChallenge(request.codeVerifier),
    code_challenge_method: 'S256',
    state: request.state,
    nonce: request.nonce,
    // With max_age, the issuer says when the person proved who they are (OpenID Connect Core 1.0, 3.1.2.1).
    max_age: String(request.isFresh ? 0 : request.maxAgeSeconds),
    ...(request.isFresh && { prompt }),
  };
}

function takesBasic({ token_endpoint_auth_methods_supported: methods }: oauth.AuthorizationServer): boolean {
  return methods === undefined || methods.includes('client_secret_basic');
}

function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
}

function claimsOf(tokens: oauth.TokenEndpointResponse): Claims {
  const claims = oauth.getValidatedIdTokenClaims(tokens);
  if (!claims) throw new SignInRefused('the issuer sent no ID token');
  const { email, email_verified: verified } = claims;
  return {
    issuer: claims.iss,
    subject: claims.sub,
    ...(typeof email === 'string' && { email }),
    // Some issuers write the claim as a text.
    emailVerified: verified === true || verified === 'true',
    ...(claims.auth_time !== undefined && { authTime: claims.auth_time }),
  };
}

/** What these codes of the library say: something in the callback or the ID token is not as it has to be. */
const refusals: readonly unknown[] = [
  oauth.INVALID_RESPONSE,
  oauth.JWT_CLAIM_COMPARISON,
  oauth.JWT_TIMESTAMP_CHECK,
  oauth.JSON_ATTRIBUTE_COMPARISON,
  oauth.KEY_SELECTION,
];

function meaningOf(error: unknown): Error {
  if (error instanceof oauth.AuthorizationResponseError && error.error === 'access_denied')
    return new SignInCancelled('the person stopped the sign-in', { cause: error });
  const isRefused =
    error instanceof SignInRefused ||
    error instanceof oauth.AuthorizationResponseError ||
    (error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant') ||
    (error instanceof oauth.OperationProcessingError && refusals.includes(error.code));
  return isRefused
    ? new SignInRefused('the sign-in is not as it has to be', { cause: error })
    : new IssuerUnavailable('the issuer gave no answer that can be used', { cause: error });
}
