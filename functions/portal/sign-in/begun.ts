/** A sign-in that has begun. The browser keeps it, sealed, so that nothing is written before the sign-in ends. */
import type { SignInSecrets } from '../../../core/ports/identity-provider.ts';
import type { LoginBox } from '../../../core/ports/login-box.ts';
import { signInPaths } from '../../../core/contract.ts';
import { cookieIn, cookieNames, setCookie } from '../../../core/portal/session.ts';

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

/** The cookie of a sign-in that begins. */
export async function keepSignIn(begun: BegunSignIn, portalUrl: URL, box: LoginBox): Promise<string> {
  const sealed = await box.seal(JSON.stringify(begun));
  return setCookie(portalUrl, cookieNames(portalUrl).signIn, sealed, signInSeconds);
}

/** Removes the cookie: a sign-in ends once. */
export function forgetSignIn(portalUrl: URL): string {
  return setCookie(portalUrl, cookieNames(portalUrl).signIn, '', 0);
}

/**
 * "none": this browser has begun no sign-in, or too long ago. "forged": the cookie was not sealed by this
 * service.
 */
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

/**
 * Where the browser goes after the sign-in: a page of the portal. Every other address becomes the first page, so
 * that no link to the sign-in leads to a foreign page.
 * @param wanted a path of the portal's origin, as the browser shows it: "/keys?new=1"
 */
export function returnPath(wanted: string | undefined, portalUrl: URL): string {
  const isPath = wanted?.startsWith('/') === true && wanted.length <= longestReturn;
  const url = isPath ? URL.parse(wanted, portalUrl.href) : null;
  if (url === null || !url.pathname.startsWith(portalUrl.pathname)) return portalUrl.pathname;
  const path = `${url.pathname}${url.search}`;
  // The path of "/..//evil.test" is "//evil.test", and a browser reads "//evil.test" as the name of another host.
  return URL.parse(path, portalUrl.href)?.href === `${portalUrl.origin}${path}` ? path : portalUrl.pathname;
}
