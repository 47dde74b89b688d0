import { checkByCall } from '../credential-call.ts';
import { createVendorHttp } from '../vendor-http.ts';
import type { CredentialCheck, VendorSettings } from '../vendor-settings.ts';
import { replicateName, replicateUrl } from './replicate-provider.ts';

/** Asks whose the token is. @see https://replicate.com/docs/reference/http#account.get (read 2026-11-21) */
export async function checkReplicate(
  settings: VendorSettings,
  signal: AbortSignal,
): Promise<CredentialCheck> {
  const http = createVendorHttp({ baseUrl: settings.baseUrl ?? replicateUrl, hosts: [] });
  return checkByCall(settings, replicateName, (key) =>
    http.call({ method: 'GET', to: '/v1/account', headers: { authorization: `Bearer ${key}` }, signal }),
  );
}
