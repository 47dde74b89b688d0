/** A sign-in that has begun. The browser keeps it, sealed, so that nothing is written before the sign-in ends. */
import { type SignInError, signInParameters, signInPaths } from '../../contract/operations.ts';
import { errorName } from '../../values/runtime.ts';
import { isBlocked, type PortalAnswer } from '../http/caller.ts';
import type { PortalRequest } from '../http/portal-request.ts';
import { sessionMillis } from '../people.ts';
import { cookieIn, cookieNames, setCookie } from '../session.ts';
import type { LoginBox, SignInServices } from './open.ts';
import { IssuerUnavailable, type SignInSecrets } from './openid.ts';

const signInSeconds = 10 * 60;
/** Browsers keep cookies of 4 KB. */
const longestReturn = 1_500;

export interface BegunSignIn extends SignInSecrets {
  /** A path of the portal, with its query. */
  readonly returnTo: string;
  readonly isFresh: boolean;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Where the issuer sends the browser back to. */
export function redirectUriOf(portalUrl: URL): string {
  return new URL(signInPaths.callback, portalUrl).href;
}

async function keepSignIn(begun: BegunSignIn, portalUrl: URL, box: LoginBox): Promise<string> {
  const sealed = await box.seal(JSON.stringify(begun));
  return setCookie(portalUrl, cookieNames(portalUrl).signIn, sealed, signInSeconds);
}

export function forgetSignIn(portalUrl: URL): string {
  return setCookie(portalUrl, cookieNames(portalUrl).signIn, '', 0);
}

/** "none": no sign-in has begun here, or too long ago. "forged": this service did not seal the cookie. */
export async function begunSignIn(
  cookies: readonly string[],
  portalUrl: URL,
  nowMillis: number,
  box: LoginBox,
): Promise<BegunSignIn | 'none' | 'forged'> {
  const sealed = cookieIn(cookies, cookieNames(portalUrl).signIn);
  if (sealed === undefined || sealed === '') return 'none';
  const text = await box.open(sealed);
  if (text === undefined) return 'forged';
  const begun = JSON.parse(text) as BegunSignIn;
  return nowMillis - begun.at < signInSeconds * 1000 ? begun : 'none';
}

/** The page after the sign-in, never a foreign one. @param wanted path and query: "/keys?new=1" */
export function returnPath(wanted: string | undefined, portalUrl: URL): string {
  const isPath = wanted?.startsWith('/') === true && wanted.length <= longestReturn;
  const url = isPath ? URL.parse(wanted, portalUrl.href) : null;
  if (url === null || !url.pathname.startsWith(portalUrl.pathname)) return portalUrl.pathname;
  const path = `${url.pathname}${url.search}`;
  // The path of "/..//evil.test" is "//evil.test", and a browser reads "//evil.test" as the name of another host.
  return URL.parse(path, portalUrl.href)?.href === `${portalUrl.origin}${path}` ? path : portalUrl.pathname;
}

/** Logs why sign-ins fail. The text of the cause is left out: it could quote the issuer. */
export function logUnavailable(error: IssuerUnavailable, { log }: Pick<SignInServices, 'log'>): void {
  log.info('issuer_unavailable', { why: error.message, cause: errorName(error.cause) });
}

/** Sends the browser on. 303: it asks the next address with GET. */
export function redirect(location: string, cookies: readonly string[] = []): PortalAnswer {
  return { status: 303, body: {}, headers: { location }, cookies };
}

/** Back to the portal with a fixed word, which the page explains. */
export function backWith(error: SignInError, portalUrl: URL, cookies: readonly string[] = []): PortalAnswer {
  const url = new URL(portalUrl);
  url.searchParams.set('error', error);
  return redirect(url.href, cookies);
}

/** GET /auth/login?return=/keys&fresh=1: sends the browser to the issuer. `fresh` asks for a new proof. */
export async function login(request: PortalRequest, services: SignInServices): Promise<PortalAnswer> {
  const { access, clock, identity, loginBox, settings } = services;
  const { portalUrl } = settings;
  const nowMillis = clock.now();
  try {
    const { block } = await access.read({ clientAddress: request.clientAddress, nowMillis });
    if (block && isBlocked(block, true)) return backWith('blocked', portalUrl);
    const isFresh = request.query[signInParameters.isFresh] === '1';
    const secrets = identity.newSecrets();
    const url = await identity.authorizationUrl({
      ...secrets,
      isFresh,
      maxAgeSeconds: sessionMillis / 1000,
      redirectUri: redirectUriOf(portalUrl),
    });
    const returnTo = returnPath(request.query[signInParameters.returnTo], portalUrl);
    const begun = { ...secrets, isFresh, returnTo, at: nowMillis };
    return redirect(url, [await keepSignIn(begun, portalUrl, loginBox)]);
  } catch (error) {
    if (error instanceof IssuerUnavailable) {
      logUnavailable(error, services);
      return backWith('unavailable', portalUrl);
    }
    throw error;
  }
}
