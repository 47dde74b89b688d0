/** The answer of a server with status 200, as its style has it. */
import { billedTokens, billedUsd } from '../../catalog/billed-cost.ts';
import type { Style } from '../../catalog/provider-styles.ts';
import type { Micros } from '../../values/money.ts';
import { type ProviderAnswer, refusedBy, renderedAs, type RenderJob } from '../provider.ts';
import { detailOf, propertyOf, unknownAnswer, type VendorHttp, type VendorResponse } from '../vendor-http.ts';
import { foreignAddress, pendingJob, type Waits } from '../vendor-jobs.ts';
import { refusalOf } from './refusals.ts';

/** The picture is there when the answer comes. Only a download that broke waits. */
export const waits: Waits = [0, 1_000, 2_000, 3_000];

/**
 * The picture, or why there is none. An address becomes the id of a job: so a download that broke is repeated, and
 * the rendering is not.
 */
export function pictureOf(
  style: Style,
  job: Pick<RenderJob, 'tokenPrices'>,
  response: VendorResponse,
  pictures: Pick<VendorHttp, 'isOwn'>,
): ProviderAnswer {
  const data = propertyOf(response.json, 'data');
  if (!Array.isArray(data)) return unknownAnswer(response);
  const first: unknown = data[0];
  if (data.length === 0) return refusedBy('nothing_rendered', detailOf(response));
  if (style.moderation !== null && propertyOf(first, style.moderation) === false)
    return refusedBy('prompt', detailOf(response, style.moderation));
  if (propertyOf(first, 'error') !== undefined) return refusalOf(response, propertyOf(first, 'error'));
  const billed = billedOf(style, job, response);
  const base64 = style.answer === 'url' ? undefined : propertyOf(first, 'b64_json');
  const url = style.answer === 'b64_json' ? undefined : propertyOf(first, 'url');
  if (typeof base64 === 'string' && base64 !== '') return renderedAs(Buffer.from(base64, 'base64'), billed);
  if (typeof url === 'string' && url !== '')
    return pictures.isOwn(url) ? pendingJob(waits, [url, String(billed ?? '-')]) : foreignAddress;
  return base64 === '' || url === ''
    ? refusedBy('nothing_rendered', detailOf(response))
    : unknownAnswer(response);
}

/** What the answer says that it costs. Undefined: it does not say it. */
function billedOf(
  { billed, billedPerUsd }: Style,
  { tokenPrices }: Pick<RenderJob, 'tokenPrices'>,
  { json, headers }: VendorResponse,
): Micros | undefined {
  if (billed === null) return undefined;
  if (billed === 'tokens') return billedTokens(tokensOf(json), tokenPrices);
  const header = billed.startsWith('x-') ? headers.get(billed) : null;
  const units =
    header === null
      ? billed.split('.').reduce<unknown>((value, member) => propertyOf(value, member), json)
      : Number.parseFloat(header);
  return billedUsd(typeof units === 'number' ? units / billedPerUsd : undefined);
}

/**
 * `usage` counts the tokens that OpenAI bills. A release before output_tokens_details counts only the picture's
 * tokens as output.
 */
function tokensOf(json: unknown): Parameters<typeof billedTokens>[0] {
  const usage = propertyOf(json, 'usage');
  const given = propertyOf(usage, 'input_tokens_details');
  const drawn = propertyOf(usage, 'output_tokens_details');
  return {
    text_in: propertyOf(given, 'text_tokens'),
    image_in: propertyOf(given, 'image_tokens'),
    image_out: propertyOf(drawn, 'image_tokens') ?? propertyOf(usage, 'output_tokens'),
    text_out: propertyOf(drawn, 'text_tokens') ?? 0,
  };
}
