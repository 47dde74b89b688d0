/** Every refusal of the API (service/api/problems.ts), with the schema of its answer. */
import * as z from 'zod';
import type { ClientFieldErrorCode, ProblemCode } from '../../values/problem.ts';
import { creationFailure, creationStatus, failureCode } from './creation.ts';
import { autoTopUp, currency, moment, usd } from './values.ts';

export interface Refusal {
  readonly code: ProblemCode;
  /** `details.reason`, where the code has several refusals or the interface names one. */
  readonly reasons: readonly string[];
  /** When the service answers so, for the description of a response. */
  readonly when: string;
  readonly schema: z.ZodObject;
}

const fieldErrorCodes: Record<ClientFieldErrorCode, string> = {
  required: 'the field is missing',
  unknown_field: 'the request has no such field',
  unknown_parameter: 'the request has no such query parameter',
  invalid_type:
    'a text instead of a number, a list instead of an object, or a number that is not whole, for example',
  invalid_value: 'the value is not allowed, or a header, limit or cursor is malformed',
  invalid_json: 'the body is not JSON',
  invalid_encoding: 'the body is not UTF-8, or a text holds half of a surrogate pair',
  too_deep: 'the body has more than 32 lists and objects inside each other',
  too_short: 'a text, an address or a metadata key is too short',
  too_long: 'a text, an address or a metadata key is too long, or the body has more than 256 KiB',
  too_small: 'a number is below its range',
  too_big: 'a number is above its range',
  too_many:
    'there are too many items, source images for the model, metadata keys, or more than 1,000 members and items in the body',
  refused_target: 'the service may not call this address',
  bucket_refused: 'the bucket did not take a small object; the message says what it answered',
  mismatch: 'the Idempotency-Key was used for another request',
  exceeded: 'the price is above `max_cost`',
  too_large: 'the source image has too many bytes',
  too_many_pixels: 'the source image has too many pixels',
  invalid_size: 'a side of the source image is too short or too long',
  unsupported_type: 'the source image is not JPEG, PNG or WebP',
  upload_not_usable: 'no upload of this account was filled under this id and has not expired',
  unsupported_parameter: 'the model does not take the field; the message names models that do',
  unsupported_value:
    'the model does not take this value of the field, or not with this output_format; the message says what would be right',
  not_taken: 'no enabled provider takes this source image',
};

const fieldErrorWords = Object.entries(fieldErrorCodes)
  .map(([code, meaning]) => `- \`${code}\`: ${meaning}.`)
  .join('\n');

const fieldError = z
  .object({
    field: z.string().meta({
      description:
        'The field of the body (`image_urls[0]`, `metadata.order`), `body` for the whole body, or the name of a header or query parameter.',
    }),
    code: z
      .enum(Object.keys(fieldErrorCodes) as ClientFieldErrorCode[])
      .meta({ description: fieldErrorWords }),
    message: z.string().meta({ description: 'For people. Do not branch on it.' }),
  })
  .meta({ id: 'FieldError', description: 'One wrong field of a request.' });

const errors = z.array(fieldError);
const creationId = z.uuid().meta({ description: 'The creation, whose charge was refunded in full.' });

interface Told {
  readonly name: string;
  readonly reasons?: readonly [string, ...string[]];
  readonly when: string;
  readonly details?: z.ZodRawShape;
}

function refusal(code: ProblemCode, { name, reasons, when, details = {} }: Told): Refusal {
  const shape = { ...(reasons && { reason: z.enum(reasons) }), ...details };
  const schema = z
    .object({
      error: z.object({
        code: z.literal(code),
        message: z.string().min(1).meta({ description: 'For people. Do not branch on it.' }),
        details: z.object(shape),
      }),
    })
    .meta({ id: `${name}Problem`, description: when });
  return { code, reasons: reasons ?? [], when, schema };
}

const budget = {
  cap: usd('The cap, in USD.'),
  spent: usd('What is spent of it, in USD.'),
  resets_at: z.iso.datetime().nullable().meta({ description: 'null for the total budget.' }),
};
const room = { limit: z.int().min(0), current: z.int().min(0) };

export const refusals = {
  invalidFields: refusal('ERR_INVALID_REQUEST', {
    name: 'InvalidFields',
    when: 'Fields, headers or query parameters are wrong. `details.errors` names each.',
    details: { errors: errors.min(1) },
  }),
  noRoute: refusal('ERR_INVALID_REQUEST', {
    name: 'NoRoute',
    reasons: ['provider_policy_no_route'],
    when: 'No provider that is enabled for the account renders the request: use another resolution, aspect ratio or format. Or none takes one of its images, which `details.errors` names (`not_taken`): use an image of another type or size.',
    details: { errors },
  }),
  maxCostExceeded: refusal('ERR_INVALID_REQUEST', {
    name: 'MaxCostExceeded',
    reasons: ['max_cost_exceeded'],
    when: 'The price is above `max_cost`. Nothing was charged: raise it, or ask for less.',
    details: { cost: usd('The price, in USD.'), max_cost: usd('As the request named it.'), errors },
  }),
  idempotencyKeyMismatch: refusal('ERR_INVALID_REQUEST', {
    name: 'IdempotencyKeyMismatch',
    reasons: ['idempotency_key_mismatch'],
    when: 'The Idempotency-Key was used for another request. Use a new key, or send the same request.',
    details: { errors },
  }),
  notCancellable: refusal('ERR_INVALID_REQUEST', {
    name: 'NotCancellable',
    reasons: ['not_cancellable'],
    when: 'The creation has ended, or its provider did not confirm that it stopped. The creation goes on.',
    details: { status: creationStatus, errors },
  }),
  notDeletable: refusal('ERR_INVALID_REQUEST', {
    name: 'NotDeletable',
    reasons: ['not_deletable'],
    when: 'The creation has not ended. Cancel it, or wait for its end.',
    details: { status: creationStatus, errors },
  }),
  noResults: refusal('ERR_INVALID_REQUEST', {
    name: 'NoResults',
    reasons: ['not_deletable'],
    when: 'The creation is not completed, so it has no images.',
    details: { status: creationStatus, errors },
  }),
  keyRefused: refusal('ERR_API_KEY_INVALID', {
    name: 'KeyRefused',
    reasons: ['api_key_missing', 'api_key_invalid'],
    when: 'The request has no key. Or the key is unknown, mistyped, revoked or expired, or `Authorization` has no `Bearer`.',
    details: {
      token: z
        .enum(['expired', 'revoked'])
        .optional()
        .meta({ description: 'Only for a token of an end user, whose server can mint another.' }),
    },
  }),
  overBalance: refusal('ERR_INSUFFICIENT_BALANCE', {
    name: 'OverBalance',
    when: 'The balance does not cover the price.',
    details: {
      required: usd('The price, in USD.'),
      available: usd('What the account can spend, in USD.'),
      currency,
      top_up_url: z.url(),
      auto_top_up: autoTopUp,
    },
  }),
  overBudget: refusal('ERR_INSUFFICIENT_BALANCE', {
    name: 'OverBudget',
    reasons: ['daily_budget_exceeded', 'monthly_budget_exceeded', 'total_budget_exceeded'],
    when: 'A budget of the key does not cover the price. If several do not, the first is named in the order daily, monthly, total, user.',
    details: budget,
  }),
  overUserBudget: refusal('ERR_INSUFFICIENT_BALANCE', {
    name: 'OverUserBudget',
    reasons: ['user_budget_exceeded'],
    when: 'The budget of the key for this user does not cover the price.',
    details: { ...budget, resets_at: moment('The begin of the next month.'), user: z.string() },
  }),
  accountCannotPay: refusal('ERR_INSUFFICIENT_BALANCE', {
    name: 'AccountCannotPay',
    reasons: ['account_balance'],
    when: 'Only for a token: the balance of the account does not cover the price.',
  }),
  tokenBudgetExceeded: refusal('ERR_INSUFFICIENT_BALANCE', {
    name: 'TokenBudgetExceeded',
    reasons: ['token_budget_exceeded'],
    when: 'The spend limit of the token does not cover the price. Mint another.',
    details: { cap: budget.cap, spent: budget.spent },
  }),
  tokenUsesExceeded: refusal('ERR_INSUFFICIENT_BALANCE', {
    name: 'TokenUsesExceeded',
    reasons: ['token_uses_exceeded'],
    when: 'The token has no use left. Mint another.',
    details: { limit: z.int().min(1), used: z.int().min(0) },
  }),
  tokenRefused: refusal('ERR_FORBIDDEN', {
    name: 'TokenRefused',
    reasons: ['operation_not_allowed', 'origin_not_allowed'],
    when: 'A token of an end user may not call this operation, or does not name the origin of the page.',
  }),
  accountDisabled: refusal('ERR_ACCOUNT_DISABLED', {
    name: 'AccountDisabled',
    reasons: ['account_disabled'],
    when: 'The account is disabled.',
  }),
  apiSuspended: refusal('ERR_API_SUSPENDED', {
    name: 'ApiSuspended',
    reasons: ['api_suspended'],
    when: 'API access of the account is paused.',
  }),
  modelNotFound: refusal('ERR_MODEL_NOT_FOUND', {
    name: 'ModelNotFound',
    when: 'The model is not available to this account. `Sunset` says since when a model is gone.',
  }),
  tokenNotFound: refusal('ERR_NOT_FOUND', {
    name: 'TokenNotFound',
    when: 'There is no token with this id, it is malformed, its day is over, or another account or key minted it.',
  }),
  endpointNotFound: refusal('ERR_NOT_FOUND', {
    name: 'EndpointNotFound',
    when: 'There is no endpoint with this id, it is malformed, or it belongs to another account.',
  }),
  bucketNotFound: refusal('ERR_NOT_FOUND', {
    name: 'BucketNotFound',
    when: 'The account has no bucket for results.',
  }),
  notCopied: refusal('ERR_INVALID_REQUEST', {
    name: 'NotCopied',
    reasons: ['not_completed', 'no_results', 'still_pending'],
    when: 'The creation is not completed, has no picture any more, or its copy waits for an attempt already.',
    details: { status: creationStatus },
  }),
  notFound: refusal('ERR_NOT_FOUND', {
    name: 'NotFound',
    when: 'There is no creation with this id, it is malformed, or it belongs to another account. There is nothing at this path.',
  }),
  rateUsedUp: refusal('ERR_RATE_LIMIT', {
    name: 'RateUsedUp',
    reasons: ['account_rate'],
    when: 'The account has sent too many requests in this minute.',
    details: { limit: z.int().min(0), window_seconds: z.int().min(1) },
  }),
  polledTooSoon: refusal('ERR_RATE_LIMIT', {
    name: 'PolledTooSoon',
    reasons: ['poll_interval'],
    when: 'The creation was polled less than `interval_seconds` ago.',
    details: { interval_seconds: z.number().min(0) },
  }),
  addressBlocked: refusal('ERR_RATE_LIMIT', {
    name: 'AddressBlocked',
    reasons: ['burst_block'],
    when: 'Too many rejected authentications came from this address.',
  }),
  tooManyOpen: refusal('ERR_QUOTA_EXCEEDED', {
    name: 'TooManyOpen',
    reasons: ['concurrent_creations'],
    when: 'The account has too many open creations.',
    details: { scope: z.literal('account'), ...room },
  }),
  serviceIsFull: refusal('ERR_QUOTA_EXCEEDED', {
    name: 'ServiceIsFull',
    reasons: ['capacity'],
    when: 'The service has no room for another creation.',
    details: { scope: z.literal('service'), ...room },
  }),
  tooManyUploads: refusal('ERR_QUOTA_EXCEEDED', {
    name: 'TooManyUploads',
    reasons: ['unused_uploads'],
    when: 'The account has too many uploads that no creation has used. Use them, or wait until they expire.',
    details: { scope: z.literal('account'), ...room },
  }),
  internal: refusal('ERR_INTERNAL', {
    name: 'Internal',
    when: 'Something unexpected happened. Send the request again with the same Idempotency-Key.',
  }),
  inputFetchFailed: refusal('ERR_INPUT_FETCH_FAILED', {
    name: 'InputFetchFailed',
    reasons: ['input_fetch_failed'],
    when: 'A source image could not be downloaded. Nothing was started and nothing was charged.',
    details: {
      retryable: z.boolean().meta({
        description: 'true for network failures, time-outs, and answers 5xx or 429 of the origin.',
      }),
      input_index: z
        .int()
        .min(0)
        .optional()
        .meta({ description: 'The place in `image_urls`. Missing when it was the mask.' }),
    },
  }),
  generationFailed: refusal('ERR_GENERATION_FAILED', {
    name: 'GenerationFailed',
    when: 'Only with `Prefer: wait`: the creation failed. Its charge was refunded in full.',
    details: {
      creation_id: creationId,
      error: creationFailure,
      error_code: failureCode,
      retryable: z.boolean(),
    },
  }),
  providerUnavailable: refusal('ERR_PROVIDER_UNAVAILABLE', {
    name: 'ProviderUnavailable',
    reasons: ['provider_unavailable'],
    when: 'The creation could not be started, or no provider was available. Its charge was refunded in full.',
    details: {
      creation_id: creationId,
      error: creationFailure.optional().meta({ description: 'Only with `Prefer: wait`.' }),
      error_code: failureCode.optional().meta({ description: 'Only with `Prefer: wait`.' }),
      retryable: z.boolean().optional().meta({ description: 'Only with `Prefer: wait`.' }),
    },
  }),
  overloaded: refusal('ERR_PROVIDER_UNAVAILABLE', {
    name: 'Overloaded',
    reasons: ['overloaded'],
    when: 'The service is busy. Nothing was charged: send the request again.',
  }),
  noProviderEnabled: refusal('ERR_PROVIDER_UNAVAILABLE', {
    name: 'NoProviderEnabled',
    reasons: ['no_provider_enabled'],
    when: 'No provider of the model is enabled for the account. Nothing was charged. The message names the models that are available.',
  }),
} as const satisfies Readonly<Record<string, Refusal>>;

export type RefusalName = keyof typeof refusals;

const [first, ...others] = Object.values<Refusal>(refusals).map(({ schema }) => schema);

export const problem = z.union([first, ...others].filter((one) => one !== undefined)).meta({
  id: 'Problem',
  description:
    'Every refusal in one type. Branch on `error.code` and `error.details.reason`, never on `error.message`.',
});

/** An answer that API Gateway makes by itself, before the service or instead of it. */
export const gatewayAnswer = z.object({ message: z.string() }).meta({
  id: 'GatewayAnswer',
  description: 'API Gateway answered instead of the service. Such an answer has no X-Request-Id.',
});
