import { checkByCall } from '../credential-call.ts';
import { createVendorHttp, detailOf, type VendorResponse } from '../vendor-http.ts';
import type { CredentialCheck, VendorSettings } from '../vendor.ts';
import { openaiUrl } from './provider.ts';

/** Lists the models. @see https://developers.openai.com/api/reference/resources/models (read 2026-11-21) */
export async function checkOpenai(settings: VendorSettings, signal: AbortSignal): Promise<CredentialCheck> {
  const http = createVendorHttp({ baseUrl: settings.baseUrl ?? openaiUrl, hosts: [] });
  const ask = (key: string): Promise<VendorResponse> =>
    http.call({ method: 'GET', to: '/v1/models', headers: { authorization: `Bearer ${key}` }, signal });
  return checkByCall(settings, ask, judge);
}

/** A restricted key may render and still not list models, so that a 403 does not prove the key wrong. */
function judge(response: VendorResponse): CredentialCheck {
  const detail = detailOf(response);
  switch (response.status) {
    case 200:
      return { verdict: 'accepted', detail };
    case 401:
      return { verdict: 'refused', detail };
    case 403:
      return { verdict: 'unchecked', detail: `${detail}: the key may not list models` };
    default:
      return { verdict: 'unreachable', detail };
  }
}
