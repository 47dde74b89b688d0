import { checkByCall } from '../credential-call.ts';
import { createVendorHttp, detailOf, type VendorResponse } from '../vendor-http.ts';
import type { CredentialCheck, VendorSettings } from '../vendor.ts';
import { googleUrl } from './provider.ts';

/** Lists one model. @see https://ai.google.dev/api/models (read 2026-11-21) */
export async function checkGoogle(settings: VendorSettings, signal: AbortSignal): Promise<CredentialCheck> {
  const http = createVendorHttp({ baseUrl: settings.baseUrl ?? googleUrl, hosts: [] });
  const to = '/v1beta/models?pageSize=1';
  const ask = (key: string): Promise<VendorResponse> =>
    http.call({ method: 'GET', to, headers: { 'x-goog-api-key': key }, signal });
  return checkByCall(settings, ask, judge);
}

/** Google answers a wrong key with 400 (API_KEY_INVALID), and a key without rights with 403. */
const refusals = [400, 401, 403];

function judge(response: VendorResponse): CredentialCheck {
  const detail = detailOf(response);
  if (response.status === 200) return { verdict: 'accepted', detail };
  return { verdict: refusals.includes(response.status) ? 'refused' : 'unreachable', detail };
}
