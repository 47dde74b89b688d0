import { checkByCall } from '../credential-call.ts';
import { createVendorHttp, type VendorResponse } from '../vendor-http.ts';
import type { CredentialCheck, VendorSettings } from '../vendor.ts';

/** fal's platform API lies on another host than its queue. */
const platformUrl = 'https://api.fal.ai';

/**
 * Asks for the price of a model, which needs a valid key.
 * @see https://docs.fal.ai/platform-apis/v1/models/pricing (read 2026-11-21)
 */
export async function checkFal(settings: VendorSettings, signal: AbortSignal): Promise<CredentialCheck> {
  const http = createVendorHttp({ baseUrl: settings.baseUrl ?? platformUrl, hosts: [] });
  const to = '/v1/models/pricing?endpoint_id=fal-ai/flux-2-pro';
  const ask = (key: string): Promise<VendorResponse> =>
    http.call({ method: 'GET', to, headers: { authorization: `Key ${key}` }, signal });
  return checkByCall(settings, ask);
}
