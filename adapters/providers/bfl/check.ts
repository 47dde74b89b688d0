import { checkByCall } from '../credential-call.ts';
import { createVendorHttp, type VendorResponse } from '../vendor-http.ts';
import type { CredentialCheck, VendorSettings } from '../vendor.ts';
import { bflHosts, bflUrl } from './provider.ts';

/**
 * Asks for the credits of our account.
 * @see https://docs.bfl.ai/api-reference/utility/get-the-users-credits (read 2026-11-21)
 */
export async function checkBfl(settings: VendorSettings, signal: AbortSignal): Promise<CredentialCheck> {
  const http = createVendorHttp({ baseUrl: settings.baseUrl ?? bflUrl, hosts: bflHosts });
  const ask = (key: string): Promise<VendorResponse> =>
    http.call({ method: 'GET', to: '/v1/credits', headers: { 'x-key': key }, signal });
  return checkByCall(settings, ask);
}
