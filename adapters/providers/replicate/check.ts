import { checkByCall } from '../credential-call.ts';
import { createVendorHttp, type VendorResponse } from '../vendor-http.ts';
import type { CredentialCheck, VendorSettings } from '../vendor.ts';
import { replicateUrl } from './provider.ts';

/**
 * Asks which account the token belongs to.
 * @see https://replicate.com/docs/reference/http#account.get (read 2026-11-21)
 */
export async function checkReplicate(
  settings: VendorSettings,
  signal: AbortSignal,
): Promise<CredentialCheck> {
  const http = createVendorHttp({ baseUrl: settings.baseUrl ?? replicateUrl, hosts: [] });
  const ask = (key: string): Promise<VendorResponse> =>
    http.call({ method: 'GET', to: '/v1/account', headers: { authorization: `Bearer ${key}` }, signal });
  return checkByCall(settings, ask);
}
