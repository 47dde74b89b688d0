/**
 * Every refusal that the API makes, by its name. service/values/problem.ts lists the codes with their HTTP
 * status; docs/api.md shows each answer. This file is a list, so it may be longer than 300 lines.
 */
import type { Budget } from '../accounts/caps.ts';
import type { Model } from '../catalog/catalog-schema.ts';
import type { SourceShape } from '../catalog/catalog.ts';
import { type FailureName, failures, shownFailure } from '../contract/failures.ts';
import {
  maxBodyBytes,
  maxFormParts,
  maxJsonDepth,
  maxJsonValues,
  maxSourceBytes,
  pollIntervalMillis,
  rateWindowSeconds,
  sourceSide,
} from '../contract/limits.ts';
import { apiRoot } from '../contract/operations.ts';
import { tierIn } from '../contract/request-fields.ts';
import { type CreationRecord, isTerminal } from '../creations/creation.ts';
import type { ImageRequest } from '../creations/image-request.ts';
import type { ClosedService } from '../creations/service-state-store.ts';
import { notUsable } from '../uploads/upload.ts';
import type { CreationId } from '../values/ids.ts';
import { formatUsd, type Micros, toUsd } from '../values/money.ts';
import {
  type FieldErrorCode,
  invalidRequest,
  neverRetry,
  Problem,
  retryLater,
  withHeaders,
} from '../values/problem.ts';

/** An open creation usually ends within this time. */
const roomRetrySeconds = 5;
/** An unused upload counts against the limit for a day. The client's own next request may use one. */
const uploadRetrySeconds = 60;
/** A provider that is down is rarely back sooner. */
export const providerRetrySeconds = 30;
/** An operator has to repair a state machine that refuses to start. */
const startRetrySeconds = 30;
const overloadedRetrySeconds = 2;
/** How often a client should retry until an operator opens the service. */
const closedRetrySeconds = 60;

// The caller

/** 401: the request has no API key. @param isAbsent neither header was there at all */
export function keyMissing(isAbsent: boolean): Problem {
  const message =
    'An API key is required: send it as "Authorization: Bearer <API_KEY>" or as "X-API-Key: <API_KEY>".';
  const details = { reason: 'api_key_missing' };
  return new Problem(
    'ERR_API_KEY_INVALID',
    message,
    details,
    {},
    isAbsent ? 'authentication_required' : undefined,
  );
}

/** 401. Says that a key was revoked or has expired only to a caller who presents the whole, genuine key. */
export function keyInvalid(why: 'is not recognised' | 'was revoked' | 'has expired'): Problem {
  return new Problem('ERR_API_KEY_INVALID', `The API key ${why}.`, { reason: 'api_key_invalid' });
}

export function accountDisabled(headers: Problem['headers'] = {}): Problem {
  const details = { reason: 'account_disabled' };
  return new Problem('ERR_ACCOUNT_DISABLED', 'This account is disabled.', details, headers);
}

export function apiSuspended(headers: Problem['headers'] = {}): Problem {
  const message = 'API access of this account is paused by its account manager. The portal still works.';
  return new Problem('ERR_API_SUSPENDED', message, { reason: 'api_suspended' }, headers);
}

export function addressBlocked(forMillis: number): Problem {
  const message = 'Too many rejected authentications came from this address.';
  return retryLater('ERR_RATE_LIMIT', message, { reason: 'burst_block' }, forMillis / 1000);
}

// How often

/** 429 account_rate: the account's rate window is full. The request is not counted. */
export class RateExceeded extends Problem {}

/** @param afterSeconds until the next window begins */
export function rateExceeded(
  rate: 'get' | 'post',
  limit: number,
  afterSeconds: number,
  who: 'account' | 'key' | 'token' = 'account',
): RateExceeded {
  const { code, message, details, headers } = retryLater(
    'ERR_RATE_LIMIT',
    `This ${who} may send ${limit} ${rate.toUpperCase()} requests a minute.`,
    { reason: 'account_rate', limit, window_seconds: rateWindowSeconds },
    afterSeconds,
  );
  return new RateExceeded(code, message, details, headers);
}

export function pollTooSoon(): Problem {
  const details = { reason: 'poll_interval', interval_seconds: pollIntervalMillis / 1000 };
  return retryLater('ERR_RATE_LIMIT', 'A creation may be polled once a second.', details, 1);
}

// What is asked

/** 404: no operation has this path, or the operation does not take this method. */
export function unknownRoute(
  method: string,
  path: string,
  allowed: readonly string[],
  root: string = apiRoot,
): Problem {
  if (allowed.length === 0) {
    return new Problem('ERR_NOT_FOUND', `There is nothing at ${path}. The API's root is ${root}.`);
  }
  const headers = { allow: allowed.join(', ') };
  return new Problem('ERR_NOT_FOUND', `${path} does not take ${method}.`, {}, headers);
}

/** 404: the same answer, byte for byte, for an absent creation and for another account's. */
export function creationNotFound(): Problem {
  return new Problem('ERR_NOT_FOUND', 'There is no creation with this id.');
}

function wrongField(field: string, code: FieldErrorCode, message: string): Problem {
  return invalidRequest([{ field, code, message }]);
}

export function wrongContentType(expected = 'application/json'): Problem {
  return wrongField('Content-Type', 'invalid_value', `must be ${expected}`);
}

export function bodyTooLong(): Problem {
  return wrongField('body', 'too_long', `at most ${maxBodyBytes / 1024} KiB`);
}

export function bodyNotUtf8(): Problem {
  return wrongField('body', 'invalid_encoding', 'must be UTF-8');
}

export function bodyNotJson(): Problem {
  return wrongField('body', 'invalid_json', 'must be valid JSON');
}

export function bodyTooDeep(): Problem {
  return wrongField('body', 'too_deep', `at most ${maxJsonDepth} lists and objects inside each other`);
}

export function bodyOfTooManyValues(): Problem {
  return wrongField('body', 'too_many', `at most ${maxJsonValues} members and items`);
}

export function formOfTooManyParts(): Problem {
  return wrongField('body', 'too_many', `a form may have at most ${maxFormParts} parts`);
}

export function bodyNotForm(): Problem {
  return wrongField(
    'body',
    'invalid_form',
    'must be multipart/form-data with the boundary that Content-Type names',
  );
}

export function bodyNotObject(): Problem {
  return wrongField('body', 'invalid_type', 'must be a JSON object');
}

export function idempotencyKeyMalformed(): Problem {
  return wrongField('Idempotency-Key', 'invalid_value', '1 to 255 printable ASCII characters');
}

/** 400: the key has a cap for each user, so the request must say for whom it is. */
export function userMissing(): Problem {
  return wrongField('user', 'required', 'required, because this key has a budget for each user');
}

/** 400: the key already names a creation that another request made. */
export function idempotencyKeyMismatch(): Problem {
  const message =
    'This Idempotency-Key was used for another request. Use a new key, or send the same request again.';
  return new Problem('ERR_INVALID_REQUEST', message, {
    reason: 'idempotency_key_mismatch',
    errors: [{ field: 'Idempotency-Key', code: 'mismatch', message: 'was used for another request' }],
  });
}

export function webhookRefused(why: string): Problem {
  return wrongField('webhook_url', 'refused_target', why);
}

// Model and route

/** 404: the model is unknown, hidden from this account, not allowed to this key, or past its sunset. */
export function modelNotFound(id: string): Problem {
  return new Problem(
    'ERR_MODEL_NOT_FOUND',
    `The model ${JSON.stringify(id)} is not available to this account.`,
  );
}

/**
 * 503 that waiting does not end: an operator has to enable a provider. It alone has no Retry-After.
 * @param model undefined: the request names no model
 * @param usable the models that the caller can use now. The message names the first ten
 */
export function noProviderEnabled(model: string | undefined, usable: readonly Pick<Model, 'id'>[]): Problem {
  const what =
    model === undefined ? 'No model is available.' : `No provider of ${model} is enabled for this account.`;
  const names = usable.slice(0, 10).map(({ id }) => id);
  const instead = names.length === 0 ? '' : ` Available models: ${names.join(', ')}.`;
  return new Problem(
    'ERR_PROVIDER_UNAVAILABLE',
    `${what} Nothing was charged.${instead}`,
    { reason: 'no_provider_enabled' },
    neverRetry,
  );
}

/** 400: the model's providers that this account may use do not render the request. */
export function noRoute(request: ImageRequest): Problem {
  const { model, resolution, aspectRatio, outputFormat, imageUrls, maskUrl, negativePrompt, background } =
    request;
  const images = imageUrls.length > 0 ? [`${imageUrls.length} source images`] : [];
  const negative = negativePrompt == null ? [] : ['a negative prompt'];
  const tier = tierIn(request);
  const quality = tier === undefined ? [] : [`quality "${tier}"`];
  const cut = background === 'transparent' ? ['a transparent background'] : [];
  const mask = maskUrl === undefined ? [] : ['a mask'];
  const rare = [...mask, ...negative, ...quality, ...cut];
  const asked = [resolution, aspectRatio, outputFormat, ...images, ...rare].join(', ');
  const message = `No provider enabled for this account renders ${model.id} at ${asked}. GET /models lists what is possible.`;
  return new Problem('ERR_INVALID_REQUEST', message, { reason: 'provider_policy_no_route', errors: [] });
}

/** 400: the price is above the limit that the request itself sets. */
export function maxCostExceeded(cost: Micros, maxCostUsd: number): Problem {
  const message = `The request costs ${formatUsd(cost)}, more than its max_cost. Nothing was charged.`;
  return new Problem('ERR_INVALID_REQUEST', message, {
    reason: 'max_cost_exceeded',
    cost: toUsd(cost),
    max_cost: maxCostUsd,
    errors: [{ field: 'max_cost', code: 'exceeded', message: `the request costs ${formatUsd(cost)}` }],
  });
}

/** 400: no provider of the remaining routes takes the source image at this index. */
export function noRouteTakes(model: string, source: SourceShape, index: number): Problem {
  const { contentType, width, height, bytes } = source;
  const found = `this is ${contentType} of ${width} x ${height} pixels and ${(bytes / 1_000_000).toFixed(1)} MB`;
  const field = `image_urls[${index}]`;
  const message = `no provider enabled for this account takes it for ${model}: ${found}`;
  return new Problem('ERR_INVALID_REQUEST', `${field}: ${message}`, {
    reason: 'provider_policy_no_route',
    errors: [{ field, code: 'not_taken', message }],
  });
}

// Source images

/** Which image of a request: the index in image_urls, or the mask. */
export type ImagePlace = number | 'mask';

function fieldAt(place: ImagePlace): string {
  return place === 'mask' ? 'mask_url' : `image_urls[${place}]`;
}

export function sourceUnusable(place: ImagePlace, code: FieldErrorCode, message: string): Problem {
  return wrongField(fieldAt(place), code, message);
}

/**
 * 400: the upload's URL is malformed, or the upload is unknown, another account's, expired or never filled.
 */
export function uploadNotUsable(place: ImagePlace): Problem {
  return sourceUnusable(place, notUsable.code, notUsable.message);
}

export function sourceTooLarge(place: ImagePlace): Problem {
  return sourceUnusable(place, 'too_large', `must have at most ${maxSourceBytes / 1_000_000} MB`);
}

export function sourceUnsupported(place: ImagePlace): Problem {
  return sourceUnusable(place, 'unsupported_type', 'must be a JPEG, PNG or WebP image');
}

export function sourceSizeInvalid(place: ImagePlace, width: number, height: number): Problem {
  const { least, most } = sourceSide;
  const message = `each side must have ${least} to ${most} pixels; this has ${width} x ${height}`;
  return sourceUnusable(place, 'invalid_size', message);
}

export function sourceOfTooManyPixels(place: ImagePlace, width: number, height: number): Problem {
  const message = `must have at most 25 megapixels; this has ${width} x ${height}`;
  return sourceUnusable(place, 'too_many_pixels', message);
}

export function sourceNotFetched(place: ImagePlace, retryable: boolean): Problem {
  const what = place === 'mask' ? 'mask' : `source image ${place}`;
  const message = `The ${what} could not be downloaded. Nothing was started and nothing was charged.`;
  const details = {
    reason: 'input_fetch_failed',
    retryable,
    ...(place !== 'mask' && { input_index: place }),
  };
  return new Problem('ERR_INPUT_FETCH_FAILED', message, details, retryable ? {} : neverRetry);
}

/** 400: a picture of another ratio cannot keep what the mask protects. @param right none: no route has it */
export function ratioNotOfSource({ width, height }: SourceShape, right = 'none'): Problem {
  const message = `the masked image has ${width} x ${height}, so the ratio must be: ${right}`;
  return wrongField('aspect_ratio', 'invalid_value', message);
}

// Money and room

/** 402: balance plus credit line does not cover the cost. */
export function overBalance(required: Micros, available: Micros, topUpUrl: string): Problem {
  return new Problem(
    'ERR_INSUFFICIENT_BALANCE',
    `The request costs ${formatUsd(required)}, of which ${formatUsd(available)} are available.`,
    { required: toUsd(required), available: toUsd(available), currency: 'USD', top_up_url: topUpUrl },
  );
}

const budgetWords = {
  daily: { reason: 'daily_budget_exceeded', name: 'The daily budget of this key' },
  monthly: { reason: 'monthly_budget_exceeded', name: 'The monthly budget of this key' },
  total: { reason: 'total_budget_exceeded', name: 'The total budget of this key' },
  user: { reason: 'user_budget_exceeded', name: 'The monthly budget of this key for the user' },
} as const satisfies Readonly<Record<Budget['period'], object>>;

/** 402: a cap of the key would be exceeded. @param user whom the request names, shown for that user's cap */
export function overBudget(budget: Budget, user: string | undefined): Problem {
  const { reason, name } = budgetWords[budget.period];
  return new Problem(
    'ERR_INSUFFICIENT_BALANCE',
    `${name}, ${formatUsd(budget.capMicros)}, does not cover the request.`,
    {
      reason,
      cap: toUsd(budget.capMicros),
      spent: toUsd(budget.spentMicros),
      resets_at: budget.resetsAt,
      ...(budget.period === 'user' && { user }),
    },
  );
}

/** 429: the account has reached its limit of open creations. */
export function tooManyOpen(limit: number, current: number): Problem {
  const details = { scope: 'account', reason: 'concurrent_creations', limit, current };
  const message = `This account may have ${limit} creations open at once.`;
  return retryLater('ERR_QUOTA_EXCEEDED', message, details, roomRetrySeconds);
}

/** 429: the request has to be held, and all slots of the account are taken. */
export function tooManyHeld(limit: number): Problem {
  const details = { scope: 'account', reason: 'held_requests', limit };
  const message = `This account may have ${limit} requests held at once. Nothing was charged.`;
  return retryLater('ERR_QUOTA_EXCEEDED', message, details, roomRetrySeconds);
}

/** 429: the service has no room for another open creation of any account. */
export function serviceIsFull(limit: number, current: number): Problem {
  const details = { scope: 'service', reason: 'capacity', limit, current };
  const message = 'The service has no room for another creation.';
  return retryLater('ERR_QUOTA_EXCEEDED', message, details, roomRetrySeconds);
}

/** 429: the account has reached its limit of unused uploads. */
export function tooManyUnusedUploads(limit: number, current: number): Problem {
  const details = { scope: 'account', reason: 'unused_uploads', limit, current };
  const message = `This account may have ${limit} uploads that no creation has used.`;
  return withHeaders(retryLater('ERR_QUOTA_EXCEEDED', message, details, uploadRetrySeconds), neverRetry);
}

// How the creation went

/** 400: the creation has ended, or its vendor did not confirm that it stopped. */
export function notCancellable({ status }: CreationRecord): Problem {
  const message = isTerminal(status)
    ? `The creation is ${status} and cannot be cancelled any more.`
    : 'A provider works on the creation, and it did not confirm that it stopped. The creation goes on.';
  return new Problem('ERR_INVALID_REQUEST', message, { reason: 'not_cancellable', status, errors: [] });
}

/** 400: the creation is open or has failed, so it has no results. */
export function noResults({ status }: CreationRecord): Problem {
  const message = `The creation is ${status}. Only a completed creation has results that can be deleted.`;
  return new Problem('ERR_INVALID_REQUEST', message, { reason: 'not_deletable', status, errors: [] });
}

/**
 * 400: the creation is open. Its renderer needs the prompt, and the client is not yet notified of the end.
 */
export function notDeletable({ status }: CreationRecord): Problem {
  const message = `The creation is ${status}. Cancel it, or wait for its end, and delete it then.`;
  return new Problem('ERR_INVALID_REQUEST', message, { reason: 'not_deletable', status, errors: [] });
}

/** 503: the execution could not be started, and the charge was given back. */
export function notStarted(creationId: CreationId): Problem {
  const message = 'The creation could not be started. Its charge was given back in full.';
  const details = { reason: 'provider_unavailable', creation_id: creationId };
  return retryLater('ERR_PROVIDER_UNAVAILABLE', message, details, startRetrySeconds);
}

/** 502 or 503: the creation failed while the client waited for it, and not by the request's own fault. */
export function generationFailed(creation: CreationRecord, failure: FailureName): Problem {
  const { message } = failures[failure];
  const details = { creation_id: creation.id, ...shownFailure(creation) };
  if (failure !== 'ServiceUnavailable') {
    return new Problem('ERR_GENERATION_FAILED', `${message} The charge was refunded in full.`, details);
  }
  const unavailable = { reason: 'provider_unavailable', ...details };
  return retryLater('ERR_PROVIDER_UNAVAILABLE', message, unavailable, providerRetrySeconds);
}

// The service itself

/** 503: an operator has closed the service, and has to open it again. Nothing was charged. */
export function serviceClosed({ message }: ClosedService): Problem {
  const details = { reason: 'overloaded' };
  const closed = retryLater('ERR_PROVIDER_UNAVAILABLE', message, details, closedRetrySeconds);
  return withHeaders(closed, neverRetry);
}

export function overloaded(): Problem {
  const message = 'The service is busy. Nothing was charged: send the request again.';
  return retryLater('ERR_PROVIDER_UNAVAILABLE', message, { reason: 'overloaded' }, overloadedRetrySeconds);
}

/** 500 without the cause: the log has the cause, under the request's id. */
export function internalError(): Problem {
  return new Problem(
    'ERR_INTERNAL',
    'An unexpected error occurred. Nothing is known to be wrong with the request.',
  );
}
