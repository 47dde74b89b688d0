import { googleBaseUrl } from './google.ts';
import { CallBroke, createVendorHttp, detailOf } from './vendor-http.ts';
import type { CredentialCheck, VendorSettings } from './vendor-settings.ts';

/** Google answers a false key with 400 (API_KEY_INVALID), one without rights with 403. */
const refusals = [400, 401, 403];

/** Lists one model, which costs nothing (https://ai.google.dev/api/models, read 2026-11-21). Throws when the signal aborts. */
export async function checkGoogle(
  { credentials, baseUrl = googleBaseUrl }: VendorSettings,
  signal: AbortSignal,
): Promise<CredentialCheck> {
  const key = await credentials.read('google');
  if (key === undefined) return { verdict: 'unchecked', detail: 'no credential' };
  const http = createVendorHttp({ baseUrl, hosts: [] });
  try {
    const response = await http.call({
      method: 'GET',
      to: '/v1beta/models?pageSize=1',
      headers: { 'x-goog-api-key': key },
      signal,
    });
    const verdict =
      response.status === 200 ? 'accepted' : refusals.includes(response.status) ? 'refused' : 'unreachable';
    return { verdict, detail: detailOf(response) };
  } catch (error) {
    if (error instanceof CallBroke) return { verdict: 'unreachable', detail: error.code };
    throw error;
  }
}
