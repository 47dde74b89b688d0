import { checkByCall } from '../credential-call.ts';
import { createVendorHttp, type VendorResponse } from '../vendor-http.ts';
import type { CredentialCheck, VendorSettings } from '../vendor.ts';
import { ideogramUrl } from './provider.ts';

/**
 * Lists the models that our account has trained, of which there are none.
 * @see https://developer.ideogram.ai/api-reference (Custom Model Training, List models; read 2026-11-22)
 */
export async function checkIdeogram(settings: VendorSettings, signal: AbortSignal): Promise<CredentialCheck> {
  const http = createVendorHttp({ baseUrl: settings.baseUrl ?? ideogramUrl, hosts: [] });
  const ask = (key: string): Promise<VendorResponse> =>
    http.call({ method: 'GET', to: '/models', headers: { 'api-key': key }, signal });
  return checkByCall(settings, ask);
}
