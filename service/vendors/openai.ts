import { createCompatible } from './compatible/provider.ts';
import { styles } from './compatible/styles.ts';
import type { CredentialCheck, ImageProvider, VendorSettings } from './provider.ts';
import { checkByCall, createVendorHttp, detailOf, type VendorResponse } from './vendor-http.ts';

/**
 * OpenAI's image models. One synchronous call takes up to about two minutes and answers with the picture in
 * base64. A job without source images is JSON to /v1/images/generations, a job with them is a form to
 * /v1/images/edits. https://developers.openai.com/api/docs/guides/image-generation and the types of the SDK
 * openai 6.49.0 (both read 2026-11-21). The models of 2.5 and their qualities xhigh and max: the types of
 * openai 7.57.0 (read 2026-11-22). The models of 2.6 take the same fields, qualities and sizes, and a field
 * `complexity` besides: https://developers.openai.com/api/docs/models/gpt-image-2.6-flare (a stored copy of
 * November 2026). It costs nothing more and is not sent. Without `quality` Flare would choose one by itself.
 *
 * The adapter is the compatible one. OpenAI has no seed, so the job's seed is left out. The quality "auto" would let
 * the vendor choose the price, so that a route without a quality asks for medium.
 *
 * Not verified: whether a blocked request ever says that a source image caused the block. The guide documents
 * error.moderation_details with a stage ("input" means the prompt or the request's inputs) and categories.
 * Neither names the image. error.param would name it.
 */
const openaiUrl = 'https://api.openai.com';

export function createOpenai(settings: VendorSettings): ImageProvider {
  return createCompatible({ baseUrl: openaiUrl, ...settings, style: styles.openai });
}

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
