/** The views of a creation for an operator: one line of a list, or all details. */
import {
  echoedFields,
  type CreationRecord,
  type StoredImage,
  type WebhookState,
} from '../service/creations/creation.ts';
import { shownFailure } from '../service/contract/failures.ts';
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
    error: shownFailure(creation)?.error ?? null,
  };
}

/** All details of the record, and the id of the request that made the creation. */
export function creationDetails(creation: CreationRecord, requestId: string | undefined): Row {
  return {
    ...askedFor(creation, requestId),
    ...progressOf(creation),
    routes: creation.routes.map((route) => membersOf(route, 'provider', 'providerModel', 'quality')),
    attempts: creation.attempts.map((attempt) => ({
      ...membersOf(
        attempt,
        'provider',
        'providerModel',
        'quality',
        'startedAt',
        'endedAt',
        'jobId',
        'resultKey',
      ),
      outcome: attempt.outcome ?? 'unknown',
      detail: attempt.detail ?? null,
    })),
    webhook: creation.webhook ? webhookView(creation.webhook) : null,
    ...(creation.copy && { copy: creation.copy }),
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
    error: shownFailure(creation)?.error ?? null,
    error_code: shownFailure(creation)?.error_code ?? null,
    failure: creation.failure ?? null,
    ...membersOf(creation, 'model', 'prompt', 'resolution', 'aspectRatio', 'outputFormat'),
    ...plainShown(creation),
    sources: creation.sources.map(imageView),
    ...(creation.mask && { mask: imageView(creation.mask) }),
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
    ...membersOf(creation, 'createdAt', 'startedAt', 'completedAt', 'cancelledAt'),
    ...(creation.erasedAt !== undefined && membersOf(creation, 'erasedAt', 'erasedBy')),
    ...(creation.resultsDeletedBy !== undefined && membersOf(creation, 'resultsDeletedBy')),
    deadline_at: timeOf(creation.deadlineAt),
    due_at: timeOf(creation.dueAt),
    ...membersOf(creation, 'executions', 'recoveries'),
    lease: lease ? { holder: lease.holder, until: timeOf(lease.until) } : null,
  };
}

function webhookView(webhook: WebhookState): Row {
  return {
    ...membersOf(webhook, 'url', 'status', 'attempts'),
    next_at: timeOf(webhook.nextAt),
    last_delivery: webhook.claimedBy ?? null,
    body: webhook.body ?? null,
  };
}

function imageView(image: StoredImage): Row {
  const { contentCredentials } = image;
  return {
    ...membersOf(image, 'key', 'width', 'height', 'contentType', 'bytes'),
    ...(contentCredentials && { content_credentials: contentCredentials }),
  };
}

/** Members by their names in answers, such as created_at. An absent one is null. */
function membersOf<Of extends object>(of: Of, ...names: (keyof Of & string)[]): Row {
  const inAnswers = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(names.map((name) => [inAnswers(name), of[name] ?? null]));
}

function timeOf(millis: number | undefined): string | null {
  return millis === undefined ? null : new Date(millis).toISOString();
}
