/**
 * How servers of the common shape refuse a job: by the code of the error, by a known text where the vendor gives
 * several reasons one code, and else by the status. One table serves all of them, because a proxy such as LiteLLM
 * passes on the codes of others.
 */
import type { RefusalReason } from '../../contract/failures.ts';
import { type Refused, refusedBy } from '../provider.ts';
import {
  detailOf,
  entryOf,
  fieldsOf,
  propertyOf,
  retryAfterOf,
  type VendorResponse,
} from '../vendor-http.ts';

/** A code such as SensitiveContentDetected.Violence is looked up whole, and then without its last part. */
const reasonOfCode: Readonly<Partial<Record<string, RefusalReason>>> = {
  // OpenAI. Its guide calls the code "the stable discriminator".
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
  // xAI
  'imagine:content-moderated': 'prompt',
  // Recraft
  prompt_is_improper: 'prompt',
  not_enough_credits: 'credentials',
  // ModelArk
  SensitiveContentDetected: 'prompt',
  InputTextSensitiveContentDetected: 'prompt',
  InputTextRiskDetection: 'prompt',
  OutputImageSensitiveContentDetected: 'prompt',
  OutputImageRiskDetection: 'prompt',
  InputImageSensitiveContentDetected: 'source_image',
  InputImageRiskDetection: 'source_image',
  // The operator has set this limit of spending at the vendor.
  SetLimitExceeded: 'credentials',
  QuotaExceeded: 'credentials',
  // LiteLLM
  budget_exceeded: 'credentials',
};

/** xAI gives its refusals of keys, prompts and fields one code. LiteLLM gives the status as the code. */
const reasonOfText: readonly (readonly [beginning: string, RefusalReason])[] = [
  ['Generated image rejected by content moderation', 'prompt'],
  ['Content violates usage guidelines', 'prompt'],
  ['Incorrect API key provided', 'credentials'],
  ['litellm.ContentPolicyViolationError', 'prompt'],
];

const reasonOfStatus: Readonly<Partial<Record<number, RefusalReason>>> = {
  401: 'credentials',
  402: 'credentials',
  403: 'credentials',
  // An operator must correct this, too: the server has no such model, or no such path.
  404: 'credentials',
  413: 'source_image',
  429: 'unavailable',
  503: 'unavailable',
};

/** @param error what the answer says of the error; absent: its member `error` */
export function refusalOf(response: VendorResponse, error = propertyOf(response.json, 'error')): Refused {
  const { code = fieldsOf(response.json)['code'], type, message } = fieldsOf(error);
  const reason =
    reasonOfWord(code) ??
    reasonOfWord(type) ??
    reasonOfWords(typeof error === 'string' ? error : message) ??
    reasonOfStatus[response.status] ??
    (response.status >= 500 ? 'failed' : undefined);
  const isOfRequest = reason === undefined || reason === 'prompt';
  const cause = isOfRequest && namesSource(error, code) ? 'source_image' : reason;
  return refusedBy(cause ?? 'unknown_answer', detailOf(response, code), retryAfterOf(response));
}

function reasonOfWord(word: unknown): RefusalReason | undefined {
  if (typeof word !== 'string') return undefined;
  return entryOf(reasonOfCode, word) ?? entryOf(reasonOfCode, word.replace(/\.\w+$/, ''));
}

function reasonOfWords(text: unknown): RefusalReason | undefined {
  if (typeof text !== 'string') return undefined;
  return reasonOfText.find(([beginning]) => text.startsWith(beginning))?.[1];
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
