/**
 * Google's Gemini image models. One synchronous call answers with the picture in base64.
 * https://ai.google.dev/gemini-api/docs/image-generation, https://ai.google.dev/api/generate-content,
 * https://ai.google.dev/gemini-api/docs/troubleshooting, and the types and converters of the SDK
 * @google/genai 2.32.0 (all read 2026-11-21), and the changelog
 * of the Gemini API for Nano Banana 2.1 (read 2026-11-22).
 *
 * Every picture is a JPEG: generateContent knows only the type IMAGE_JPEG, under responseFormat. Only Vertex
 * has imageConfig.outputMimeType (googleapis/python-genai#2346). Not verified in Google's own text: that
 * responseFormat and imageConfig may be sent together. Reports of real calls with gemini-3-pro-image
 * (2026-10-02) say so.
 */
import { billedTokens } from '../catalog/billed-cost.ts';
import type { RefusalReason } from '../contract/failures.ts';
import type { OutputFormat } from '../contract/request-fields.ts';
import type { Micros } from '../values/money.ts';
import { inOneCall } from './in-one-call.ts';
import {
  type CredentialCheck,
  type ImageProvider,
  type ProviderAnswer,
  refusedBy,
  renderedAs,
  type RenderJob,
  type SourceImage,
  type VendorSettings,
} from './provider.ts';
import {
  checkByCall,
  createVendorHttp,
  detailOf,
  entryOf,
  listOf,
  propertyOf,
  retryAfterOf,
  unknownAnswer,
  type VendorResponse,
} from './vendor-http.ts';

const googleUrl = 'https://generativelanguage.googleapis.com';

const mimeTypes: Readonly<Partial<Record<OutputFormat, string>>> = { jpeg: 'IMAGE_JPEG' };

/** By the finishReason of a candidate without a picture. STOP: it answered in words, or nothing. */
const reasonOfFinish: Readonly<Partial<Record<string, RefusalReason>>> = {
  STOP: 'nothing_rendered',
  NO_IMAGE: 'nothing_rendered',
  IMAGE_OTHER: 'failed',
  OTHER: 'failed',
};

/** By the finishReason, too. These refuse the job even if the candidate has a picture. */
const reasonOfBlock: Readonly<Partial<Record<string, RefusalReason>>> = {
  IMAGE_SAFETY: 'prompt',
  IMAGE_PROHIBITED_CONTENT: 'prompt',
  IMAGE_RECITATION: 'prompt',
  PROHIBITED_CONTENT: 'prompt',
  SAFETY: 'prompt',
  RECITATION: 'prompt',
  BLOCKLIST: 'prompt',
  SPII: 'prompt',
};

const reasonOfStatus: Readonly<Partial<Record<number, RefusalReason>>> = {
  401: 'credentials',
  402: 'credentials',
  403: 'credentials',
  // An operator must correct this, too: the project of the key does not have the model.
  404: 'credentials',
  413: 'source_image',
  429: 'unavailable',
  500: 'failed',
  503: 'unavailable',
  504: 'timed_out',
};

export function createGoogle({ name, credentials, baseUrl = googleUrl }: VendorSettings): ImageProvider {
  const http = createVendorHttp({ baseUrl, hosts: [] });
  return inOneCall({
    name,
    credentials,
    ask: async (key, job, signal) => {
      const mimeType = mimeTypes[job.outputFormat];
      if (mimeType === undefined) return refusedBy('unknown_answer', `${job.outputFormat} is not rendered`);
      const sources = job.sourceCount > 0 ? await job.readSources() : [];
      const response = await http.call({
        method: 'POST',
        to: `/v1beta/models/${encodeURIComponent(job.providerModel)}:generateContent`,
        headers: { 'x-goog-api-key': key },
        body: bodyOf(job, mimeType, sources),
        signal,
      });
      return response.status === 200 ? imageOf(response, job) : refusalOf(response);
    },
  });
}

function bodyOf(job: RenderJob, mimeType: string, sources: readonly SourceImage[]): object {
  const text = job.prompt === null ? [] : [{ text: job.prompt }];
  const images = sources.map(({ contentType, bytes }) => ({
    inlineData: { mimeType: contentType, data: Buffer.from(bytes).toString('base64') },
  }));
  return {
    contents: [{ role: 'user', parts: [...text, ...images] }],
    generationConfig: {
      responseModalities: ['IMAGE'],
      imageConfig: { aspectRatio: job.aspectRatio, imageSize: job.resolution },
      responseFormat: { image: { mimeType } },
      ...(job.seed !== null && { seed: job.seed }),
    },
  };
}

function imageOf(response: VendorResponse, job: RenderJob): ProviderAnswer {
  const blocked = propertyOf(propertyOf(response.json, 'promptFeedback'), 'blockReason');
  if (typeof blocked === 'string') return refusedBy('prompt', detailOf(response, blocked));
  const [candidate] = listOf(propertyOf(response.json, 'candidates'));
  const finish = propertyOf(candidate, 'finishReason');
  if (typeof finish !== 'string') return unknownAnswer(response);
  const block = entryOf(reasonOfBlock, finish);
  if (block !== undefined) return refusedBy(block, detailOf(response, finish));
  const image = pictureOf(candidate);
  if (image !== undefined && finish === 'STOP')
    return renderedAs(Buffer.from(image, 'base64'), billOf(response, job));
  return refusedBy(entryOf(reasonOfFinish, finish) ?? 'unknown_answer', detailOf(response, finish));
}

/** The last picture. Drafts of the model come before it and are marked as thoughts. */
function pictureOf(candidate: unknown): string | undefined {
  const parts = listOf(propertyOf(propertyOf(candidate, 'content'), 'parts'));
  const shown = parts.filter((part) => propertyOf(part, 'thought') !== true);
  const pictures = shown.map((part) => propertyOf(propertyOf(part, 'inlineData'), 'data'));
  return pictures.findLast((data): data is string => typeof data === 'string' && data !== '');
}

/** `candidatesTokenCount` has the tokens of picture and text. Thoughts are text, counted apart. */
function billOf({ json }: VendorResponse, { tokenPrices }: RenderJob): Micros | undefined {
  const usage = propertyOf(json, 'usageMetadata');
  const imageIn = tokensOf(propertyOf(usage, 'promptTokensDetails'), 'IMAGE');
  const imageOut = tokensOf(propertyOf(usage, 'candidatesTokensDetails'), 'IMAGE');
  const thoughts = propertyOf(usage, 'thoughtsTokenCount') ?? 0;
  const counts = {
    text_in: Number(propertyOf(usage, 'promptTokenCount')) - imageIn,
    image_in: imageIn,
    image_out: imageOut,
    text_out: Number(propertyOf(usage, 'candidatesTokenCount')) - imageOut + Number(thoughts),
  };
  return billedTokens(counts, tokenPrices);
}

/** The tokens of one modality. None when the list does not name the modality. */
function tokensOf(details: unknown, modality: string): number {
  const entries = listOf(details).filter((entry) => propertyOf(entry, 'modality') === modality);
  return entries.reduce<number>((sum, entry) => sum + Number(propertyOf(entry, 'tokenCount')), 0);
}

function refusalOf(response: VendorResponse): ProviderAnswer {
  const error = propertyOf(response.json, 'error');
  const status = propertyOf(error, 'status');
  const cause = listOf(propertyOf(error, 'details'))
    .map((detail) => propertyOf(detail, 'reason'))
    .find((reason) => typeof reason === 'string');
  const reason =
    response.status === 400 ? reasonOfBadRequest(error, status, cause) : reasonOfStatus[response.status];
  return refusedBy(
    reason ?? (response.status > 500 ? 'failed' : 'unknown_answer'),
    detailOf(response, cause ?? status),
    retryAfterOf(response),
  );
}

/** These errors have no code: an image that Google cannot read, and images that are too large together. */
const badSource =
  /Provided image is not valid|Unable to process input image|Request payload size exceeds the limit/;

/** Google answers a wrong key with 400. For a bad source image the text is the only sign. */
function reasonOfBadRequest(error: unknown, status: unknown, cause: unknown): RefusalReason | undefined {
  const isOurs = cause === 'API_KEY_INVALID' || status === 'FAILED_PRECONDITION';
  if (isOurs) return 'credentials';
  const message = propertyOf(error, 'message');
  return typeof message === 'string' && badSource.test(message) ? 'source_image' : undefined;
}

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
