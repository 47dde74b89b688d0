import { openaiBaseUrl } from './openai.ts';
import { CallBroke, createVendorHttp, detailOf } from './vendor-http.ts';
import type { CredentialCheck, VendorSettings } from './vendor-settings.ts';

/**
 * Lists the models, which costs nothing (https://developers.openai.com/api/reference/resources/models,
 * read 2026-11-21). A restricted key may render and yet not list: that is no refusal.
 * Throws when the signal aborts.
 */
export async function checkOpenai(
  { credentials, baseUrl = openaiBaseUrl }: VendorSettings,
  signal: AbortSignal,
): Promise<CredentialCheck> {
  const key = await credentials.read('openai');
  if (key === undefined) return { verdict: 'unchecked', detail: 'no credential' };
  const http = createVendorHttp({ baseUrl, hosts: [] });
  try {
    const response = await http.call({
      method: 'GET',
      to: '/v1/models',
      headers: { authorization: `Bearer ${key}` },
      signal,
    });
    const detail = detailOf(response);
    if (response.status === 200) return { verdict: 'accepted', detail };
    if (response.status === 401) return { verdict: 'refused', detail };
    if (response.status === 403)
      return { verdict: 'unchecked', detail: `${detail}: the key may not list models` };
    return { verdict: 'unreachable', detail };
  } catch (error) {
    if (error instanceof CallBroke) return { verdict: 'unreachable', detail: error.code };
    throw error;
  }
}
