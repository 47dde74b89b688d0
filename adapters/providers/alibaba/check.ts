import { checkByCall } from '../credential-call.ts';
import { createVendorHttp, type VendorResponse } from '../vendor-http.ts';
import type { CredentialCheck, VendorSettings } from '../vendor.ts';
import { alibabaUrl } from './provider.ts';

/**
 * Lists the models. Only the OpenAI-shaped side of the service has a list that needs the key.
 * @see https://www.alibabacloud.com/help/en/model-studio/error-code (401 invalid_api_key; read 2026-11-22)
 */
export async function checkAlibaba(settings: VendorSettings, signal: AbortSignal): Promise<CredentialCheck> {
  const http = createVendorHttp({ baseUrl: settings.baseUrl ?? alibabaUrl, hosts: [] });
  const ask = (key: string): Promise<VendorResponse> =>
    http.call({
      method: 'GET',
      to: '/compatible-mode/v1/models',
      headers: { authorization: `Bearer ${key}` },
      signal,
    });
  return checkByCall(settings, ask);
}
