/**
 * OpenAI's image models. One synchronous call takes up to about two minutes and answers with the picture in
 * base64. A job without source images is JSON to /v1/images/generations, a job with them is a form to
 * /v1/images/edits. https://developers.openai.com/api/docs/guides/image-generation and the types of the SDK
 * openai 6.49.0 (both read 2026-11-21).
 *
 * Not verified: whether a blocked request ever says that a source image caused the block. The guide documents
 * error.moderation_details with a stage ("input" means the prompt or the request's inputs) and categories.
 * Neither names the image. error.param would name it.
 */
import type {
  ImageProvider,
  ProviderAnswer,
  RefusalReason,
  RenderJob,
  SourceImage,
} from '../../../core/provider.ts';
import { refusedBy } from '../../../core/provider.ts';
import { inOneCall } from '../in-one-call.ts';
import { openaiSizes } from './sizes.ts';
import { createVendorHttp, detailOf, unknownAnswer, type VendorResponse } from '../vendor-http.ts';
import { entryOf, propertyOf } from '../vendor-json.ts';
import type { VendorSettings } from '../vendor.ts';

export const openaiUrl = 'https://api.openai.com';

/** By error.code, which the guide calls "the stable discriminator". */
const reasonOfCode: Readonly<Partial<Record<string, RefusalReason>>> = {
  moderation_blocked: 'prompt',
  content_policy_violation: 'prompt',
  invalid_image_file: 'source_image',
  unsupported_file_mimetype: 'source_image',
  // These come with 429 or 400, but waiting does not help, because our bill is the cause.
  insufficient_quota: 'credentials',
  billing_hard_limit_reached: 'credentials',
  project_spend_limit_exceeded: 'credentials',
  // An operator must correct this, too: our organization may not use the model.
  model_not_found: 'credentials',
};

const reasonOfStatus: Readonly<Partial<Record<number, RefusalReason>>> = {
  401: 'credentials',
  402: 'credentials',
  403: 'credentials',
  413: 'source_image',
  429: 'unavailable',
  503: 'unavailable',
};

export function createOpenai({ name, credentials, baseUrl = openaiUrl }: VendorSettings): ImageProvider {
  const http = createVendorHttp({ baseUrl, hosts: [] });
  return inOneCall({
    name,
    credentials,
    ask: async (key, job, signal) => {
      const sources = job.sourceCount > 0 ? await job.readSources() : [];
      const response = await http.call({
        method: 'POST',
        to: sources.length > 0 ? '/v1/images/edits' : '/v1/images/generations',
        headers: { authorization: `Bearer ${key}` },
        body: sources.length > 0 ? formOf(job, sources) : fieldsOf(job),
        signal,
      });
      return response.status === 200 ? imageOf(response) : refusalOf(response);
    },
  });
}

/**
 * OpenAI has no seed, so the job's seed is left out. The quality "auto" would let the vendor choose the
 * price.
 */
function fieldsOf(job: RenderJob): Record<string, string | number> {
  return {
    model: job.providerModel,
    prompt: job.prompt ?? '',
    n: 1,
    size: openaiSizes[job.resolution][job.aspectRatio],
    quality: job.quality ?? 'medium',
    output_format: job.outputFormat,
  };
}

function formOf(job: RenderJob, sources: readonly SourceImage[]): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries(fieldsOf(job))) form.append(field, String(value));
  for (const [index, { contentType, bytes }] of sources.entries()) {
    const blob = new Blob([bytes], { type: contentType });
    form.append('image[]', blob, `image-${index + 1}.${contentType.replace('image/', '')}`);
  }
  return form;
}

function imageOf(response: VendorResponse): ProviderAnswer {
  const data = propertyOf(response.json, 'data');
  if (!Array.isArray(data)) return unknownAnswer(response);
  const image = propertyOf(data[0], 'b64_json');
  if (data.length === 0 || image === '') return refusedBy('nothing_rendered', detailOf(response));
  return typeof image === 'string'
    ? { kind: 'rendered', bytes: Buffer.from(image, 'base64') }
    : unknownAnswer(response);
}

function refusalOf(response: VendorResponse): ProviderAnswer {
  const error = propertyOf(response.json, 'error');
  const code = propertyOf(error, 'code');
  const known = typeof code === 'string' ? entryOf(reasonOfCode, code) : undefined;
  const reason = known ?? reasonOfStatus[response.status] ?? (response.status >= 500 ? 'failed' : undefined);
  const isOfRequest = reason === undefined || reason === 'prompt';
  const told = isOfRequest && namesSource(error, code) ? 'source_image' : reason;
  return refusedBy(told ?? 'unknown_answer', detailOf(response, code));
}

/** Whether the error is about a source image. Its text counts only when it has neither a field nor a code. */
function namesSource(error: unknown, code: unknown): boolean {
  const param = propertyOf(error, 'param');
  if (typeof param === 'string' && param !== '') return /^image(\b|$)/.test(param);
  const message = propertyOf(error, 'message');
  return (
    typeof code !== 'string' &&
    typeof message === 'string' &&
    /^Invalid (file 'image|image file)/.test(message)
  );
}
