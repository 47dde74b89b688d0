import { checkByCall } from '../credential-call.ts';
import { createVendorHttp } from '../vendor-http.ts';
import type { CredentialCheck, VendorSettings } from '../vendor-settings.ts';
import { falName } from './fal-provider.ts';

/** Asks for a model's price, which takes a valid key. @see https://docs.fal.ai/platform-apis/v1/models/pricing (read 2026-11-21) */
export async function checkFal(settings: VendorSettings, signal: AbortSignal): Promise<CredentialCheck> {
  const http = createVendorHttp({ baseUrl: settings.baseUrl ?? 'https://api.fal.ai', hosts: [] });
  const to = '/v1/models/pricing?endpoint_id=fal-ai/flux-2-pro';
  return checkByCall(settings, falName, (key) =>
    http.call({ method: 'GET', to, headers: { authorization: `Key ${key}` }, signal }),
  );
}
