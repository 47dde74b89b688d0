/** The views of a creation for an operator: one line of a list, or all details. */
import {
  echoedFields,
  type CreationRecord,
  type StoredImage,
  type WebhookState,
} from '../service/creations/creation.ts';
import { failures } from '../service/contract/failures.ts';
import { toUsd } from '../service/values/money.ts';
import { plainShown } from '../service/contract/request-fields.ts';
import type { Row } from '../client/command/terminal/output.ts';

/** One line of `creations list`. */
export function creationRow(creation: CreationRecord): Row {
  return {
    id: creation.id,
    created_at: creation.createdAt,
    status: creation.status,
    model: creation.model,
    cost: toUsd(creation.costMicros),
    amount_refunded: toUsd(creation.refundedMicros),
    webhook: creation.webhook?.status ?? null,
    error: errorOf(creation),
  };
}

/** All details of the record, and the id of the request that made the creation. */
export function creationDetails(creation: CreationRecord, requestId: string | undefined): Row {
  return {
    ...askedFor(creation, requestId),
    ...progressOf(creation),
    routes: creation.routes.map(({ provider, providerModel, quality }) => ({
      provider,
      provider_model: providerModel,
      quality: quality ?? null,
    })),
    attempts: creation.attempts.map(
      ({ provider, providerModel, quality, startedAt, endedAt, jobId, resultKey, outcome, detail }) => ({
        provider,
        provider_model: providerModel,
        quality: quality ?? null,
        started_at: startedAt,
        ended_at: endedAt ?? null,
        job_id: jobId ?? null,
        result_key: resultKey,
        outcome: outcome ?? 'unknown',
        detail: detail ?? null,
      }),
    ),
    webhook: creation.webhook ? webhookView(creation.webhook) : null,
    results: creation.results.map(imageView),
    results_expire_at: timeOf(creation.resultsExpireAt),
  };
}

function askedFor(creation: CreationRecord, requestId: string | undefined): Row {
  return {
    id: creation.id,
    account: creation.accountId,
    key: creation.keyId,
    request_id: requestId ?? null,
    status: creation.status,
    error: errorOf(creation),
    failure: creation.failure ?? null,
    model: creation.model,
    prompt: creation.prompt,
    resolution: creation.resolution,
    aspect_ratio: creation.aspectRatio,
    output_format: creation.outputFormat,
    ...plainShown(creation),
    sources: creation.sources.map(imageView),
    ...echoedFields(creation),
    user: creation.user ?? null,
    cost: toUsd(creation.costMicros),
    amount_refunded: toUsd(creation.refundedMicros),
    charged_month: creation.chargedMonth.replace('_', '-'),
  };
}

function progressOf(creation: CreationRecord): Row {
  const { lease } = creation;
  return {
    created_at: creation.createdAt,
    started_at: creation.startedAt ?? null,
    completed_at: creation.completedAt ?? null,
    cancelled_at: creation.cancelledAt ?? null,
    deadline_at: timeOf(creation.deadlineAt),
    due_at: timeOf(creation.dueAt),
    executions: creation.executions,
    recoveries: creation.recoveries,
    lease: lease ? { holder: lease.holder, until: timeOf(lease.until) } : null,
  };
}

function webhookView({ url, status, attempts, nextAt, claimedBy, body }: WebhookState): Row {
  return {
    url,
    status,
    attempts,
    next_at: timeOf(nextAt),
    last_delivery: claimedBy ?? null,
    body: body ?? null,
  };
}

function imageView({ key, width, height, contentType, bytes, contentCredentials }: StoredImage): Row {
  return {
    key,
    width,
    height,
    content_type: contentType,
    bytes,
    ...(contentCredentials && { content_credentials: contentCredentials }),
  };
}

function errorOf({ failure }: CreationRecord): string | null {
  return failure === undefined ? null : failures[failure].message;
}

function timeOf(millis: number | undefined): string | null {
  return millis === undefined ? null : new Date(millis).toISOString();
}
