import type { SignInError } from '../../../core/contract.ts';
import type { PortalAnswer } from '../http/caller.ts';

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
