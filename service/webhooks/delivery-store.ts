import { secretsFromItem } from '../accounts/account-items.ts';
import { tryUpdate, updateIf } from '../aws/dynamodb/conditional.ts';
import { queryAll, queryPages } from '../aws/dynamodb/query.ts';
import { getItem, putItem, updateItem, type UpdateParts } from '../aws/dynamodb/send.ts';
import { type Item, keyOf, keys, openShard, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import { transact, type TransactItem } from '../aws/dynamodb/transaction.ts';
import { creationFromItem, keptDays } from '../creations/creation-items.ts';
import type { CreationRecord, EndpointSchedules } from '../creations/creation.ts';
import { eventItem } from '../creations/event-items.ts';
import { Overloaded } from '../values/errors.ts';
import { type AccountId, type CreationId, newEventId, type NoticeId, timeOfUuidV7 } from '../values/ids.ts';
import { firstBytes } from '../values/text.ts';
import { type DeliveringAccount, type Delivery, type DeliveryClaim, failedEndpoints } from './delivery.ts';
import { firstHeaders, webhookAttempts } from './webhook.ts';

/** The row of an attempt. A delivered one costs one write unit, so its answer is cut to the KB. */
const unitBytes = 1_024;
/** The largest part of the stored size that the headers get. */
const headerBytes = 256;

export function logRow(delivery: Delivery): Item {
  const startedSeconds = Math.floor(Date.parse(delivery.startedAt) / 1000);
  return {
    ...keys.delivery(delivery.accountId, delivery.startedAt, delivery.id),
    ...(delivery.outcome === 'delivered' ? withShortAnswer(delivery) : delivery),
    [ttlAttribute]: startedSeconds + keptDays * 86_400,
  };
}

function withShortAnswer(delivery: Delivery): Delivery {
  const { responseExcerpt, responseHeaders, ...rest } = delivery;
  if (responseExcerpt === undefined || responseHeaders === undefined) return delivery;
  const key = keys.delivery(delivery.accountId, delivery.startedAt, delivery.id);
  const empty = { ...key, ...rest, responseExcerpt: '', responseHeaders: {}, [ttlAttribute]: 1_800_000_000 };
  const used = sizeOf(empty);
  const room = Math.ceil(used / unitBytes) * unitBytes - used;
  // A map takes one byte for each of its entries.
  const most = Math.min(headerBytes, room) - Object.keys(responseHeaders).length;
  const headers = firstHeaders(responseHeaders, most);
  const left = room - (sizeOf(headers) - sizeOf({}));
  return { ...rest, responseExcerpt: firstBytes(responseExcerpt, left), responseHeaders: headers };
}

/** At least the size of an item of texts, numbers, lists and maps, as DynamoDB counts it. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return Math.ceil(String(value).length / 2) + 1;
  if (Array.isArray(value)) return 3 + value.reduce((sum: number, one) => sum + sizeOf(one) + 1, 0);
  if (typeof value !== 'object' || value === null) return value === undefined ? 0 : 1;
  return Object.entries(value).reduce(
    (sum, [name, one]) => (one === undefined ? sum : sum + Buffer.byteLength(name) + sizeOf(one) + 1),
    3,
  );
}

export function deliveryFromItem(item: Item): Delivery {
  const { pk, sk, expiresAtSeconds, ...delivery } = item;
  return delivery as unknown as Delivery;
}

/** How long after an attempt is due the reconciler takes care of the webhook. */
export const overdueMillis = 30_000;

const isNext = 'webhook.#status = :pending AND webhook.attempts = :before AND webhook.nextAt <= :now';
const isUsedUp = 'webhook.#status = :pending AND webhook.attempts = :last';
const isThisAttempt = 'webhook.#status = :pending AND webhook.attempts = :attempt';

const deliveringAttributes =
  '#name, webhookSecrets, noticeUrl, noticeEndpoints, mailChoices, webhookFailures, toldFailing';

function ownerOf({ noticeId, creationId }: Delivery): CreationId | NoticeId {
  const owner = noticeId ?? creationId;
  if (!owner) throw new Error('the delivery belongs to no creation and to no notice');
  return owner;
}

/** Attempts of webhooks and notices. Each is claimed in the record before its send, and logged. */
export function createDeliveryStore(table: Table) {
  return {
    /** One read, also for the count of failures: a success costs no further call. */
    deliveringAccount: async (accountId: AccountId): Promise<DeliveringAccount> => {
      const item = await getItem(table, keys.account(accountId), deliveringAttributes, { '#name': 'name' });
      const { noticeUrl, noticeEndpoints, mailChoices } = item ?? {};
      const isWatched = [noticeUrl, noticeEndpoints, mailChoices].some((one) => one !== undefined);
      const inARow = Number(item?.['webhookFailures'] ?? 0);
      return {
        name: (item?.['name'] ?? '') as string,
        secrets: secretsFromItem(item),
        ...(isWatched && { failures: { inARow, isTold: item?.['toldFailing'] !== undefined } }),
      };
    },
    /** Counts one more failed attempt of a webhook. Returns how many have failed in a row. */
    countFailure: async (accountId: AccountId): Promise<number> => {
      const answer = await updateItem(table, keys.account(accountId), {
        UpdateExpression: 'ADD webhookFailures :one',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':one': 1 },
        ReturnValues: 'UPDATED_NEW',
      });
      return Number(answer.Attributes?.['webhookFailures']);
    },
    /** Resets the count of failed attempts. The next ten cause a notice again. */
    resetFailures: async (accountId: AccountId) => {
      await updateItem(table, keys.account(accountId), {
        UpdateExpression: 'REMOVE webhookFailures, toldFailing',
        ConditionExpression: 'attribute_exists(pk)',
      });
    },
    /** Takes an attempt and writes its row. False when it is not due or another invocation has it. */
    // The record decides, so it is written first. The log row follows. A transaction of both would cost twice
    // as much.
    claim: async (claim: DeliveryClaim): Promise<boolean> => {
      const outcome = await tryUpdate(table, keyOf(ownerOf(claim.delivery)), claimParts(claim));
      // A busy table counts as an attempt that is not due: nothing is sent, and the state machine tries
      // again.
      const isClaimed =
        outcome.kind === 'written' ||
        (outcome.kind === 'refused' && isOurClaim(outcome.item, claim.delivery));
      if (isClaimed) await noteInLog(table, claim.delivery);
      return isClaimed;
    },
    /** Completes the row of the attempt. `next`: the time of the next one, or the webhook's final status. */
    settle: async (
      delivery: Delivery,
      next: { readonly at: number } | { readonly status: 'delivered' | 'failed' },
    ) => {
      const outcome = await tryUpdate(table, keyOf(ownerOf(delivery)), settleParts(delivery, next));
      if (outcome.kind === 'busy')
        throw new Overloaded('the table stayed busy: the attempt is settled by its next claim');
      // The result of this attempt is logged even if another attempt has been claimed in the meantime.
      await noteInLog(table, {
        ...delivery,
        ...('at' in next && { nextAttemptAt: new Date(next.at).toISOString() }),
      });
    },
    skip: async (id: CreationId | NoticeId) => {
      await updateItem(table, keyOf(id), {
        UpdateExpression: 'SET webhook.#status = :skipped REMOVE openShard, dueAt',
        ConditionExpression: 'webhook.#status = :pending',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':skipped': 'skipped', ':pending': 'pending' },
      });
    },
    /** Fails a webhook whose last attempt was never settled. Does nothing when it was settled meanwhile. */
    giveUp: async (id: CreationId | NoticeId) => {
      await updateIf(table, keyOf(id), {
        UpdateExpression: 'SET webhook.#status = :failed REMOVE openShard, dueAt',
        ConditionExpression: isUsedUp,
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':failed': 'failed', ':pending': 'pending', ':last': webhookAttempts },
      });
    },
    /** Claims a test delivery for the account. Returns 0, or the milliseconds to wait when it is too soon. */
    claimTest: (accountId: AccountId, intervalMillis: number, nowMillis: number): Promise<number> =>
      claimTest(table, accountId, intervalMillis, nowMillis),
    record: async (delivery: Delivery) => {
      await putItem(table, logRow(delivery));
    },
    find: async (accountId: AccountId, deliveryId: string): Promise<Delivery | undefined> => {
      // The id of a delivery holds its start time, and the key of its log row begins with that time.
      const startedAt = timeOfUuidV7(deliveryId);
      if (startedAt === undefined) return undefined;
      const key = keys.delivery(accountId, new Date(startedAt).toISOString(), deliveryId);
      const item = await getItem(table, key);
      return item && deliveryFromItem(item);
    },
    log: async (accountId: AccountId, limit: number): Promise<readonly Delivery[]> =>
      (await queryAll(table, keys.account(accountId).pk, 'DELIVERY#', true, limit)).map(deliveryFromItem),
    /** The creations whose last attempt since a moment did not deliver, the oldest first. */
    lastAttemptsSince: (
      accountId: AccountId,
      sinceMillis: number,
      endpointId?: string,
    ): AsyncIterable<readonly CreationId[]> => lastAttemptsSince(table, accountId, sinceMillis, endpointId),
    /** Opens a new round of attempts and counts an execution. False when the webhook is still pending. */
    reopen: (creation: CreationRecord, nowMillis: number, to?: string): Promise<boolean> =>
      reopen(table, creation, nowMillis, to),
  };
}

/** The end of the creation set the reconciler's time for the webhook. Each later attempt moves it. */
function claimParts({ delivery, body, nextAt, nowMillis }: DeliveryClaim): UpdateParts {
  const isFirst = delivery.attempt === 1;
  return {
    UpdateExpression:
      'SET webhook.attempts = :attempt, webhook.nextAt = :next, webhook.claimedBy = :id, webhook.body = if_not_exists(webhook.body, :body)' +
      (isFirst ? '' : ', openShard = :shard, dueAt = :due'),
    ConditionExpression: isNext,
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ':pending': 'pending',
      ':before': delivery.attempt - 1,
      ':attempt': delivery.attempt,
      ':now': nowMillis,
      ':next': nextAt,
      ':id': delivery.id,
      ':body': body,
      ...(!isFirst && {
        ':shard': openShard('WEBHOOK', ownerOf(delivery)),
        ':due': nextAt + overdueMillis,
      }),
    },
  };
}

/** Our first write succeeded but its answer was lost; this retry failed because of it. */
function isOurClaim(item: Item | undefined, { id }: Delivery): boolean {
  return item !== undefined && creationFromItem(item).webhook?.claimedBy === id;
}

function settleParts(delivery: Delivery, next: Parameters<DeliveryStore['settle']>[1]): UpdateParts {
  const waits = 'at' in next;
  return {
    UpdateExpression: waits
      ? 'SET webhook.nextAt = :next, openShard = :shard, dueAt = :due'
      : 'SET webhook.#status = :settled REMOVE openShard, dueAt',
    ConditionExpression: isThisAttempt,
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ':pending': 'pending',
      ':attempt': delivery.attempt,
      ...(waits
        ? {
            ':next': next.at,
            ':shard': openShard('WEBHOOK', ownerOf(delivery)),
            ':due': next.at + overdueMillis,
          }
        : { ':settled': next.status }),
    },
  };
}

/** A busy table does not stop the webhook: the row of the attempt's end holds the same fields. */
export async function noteInLog(table: Table, delivery: Delivery): Promise<void> {
  try {
    await putItem(table, logRow(delivery));
  } catch (error) {
    if (!(error instanceof Overloaded)) throw error;
  }
}

async function claimTest(
  table: Table,
  accountId: AccountId,
  intervalMillis: number,
  nowMillis: number,
): Promise<number> {
  const key = keys.testDelivery(accountId);
  const claimed = await updateIf(table, key, {
    UpdateExpression: 'SET lastAt = :now',
    ConditionExpression: 'attribute_not_exists(lastAt) OR lastAt <= :before',
    ExpressionAttributeValues: { ':now': nowMillis, ':before': nowMillis - intervalMillis },
  });
  if (claimed) return 0;
  const item = await getItem(table, key);
  return Math.max(1, Number(item?.['lastAt']) + intervalMillis - nowMillis);
}

/** Rows of tests name the nil creation, which does not exist. Rows of notices name none. */
async function* lastAttemptsSince(
  table: Table,
  accountId: AccountId,
  sinceMillis: number,
  endpointId: string | undefined,
): AsyncGenerator<readonly CreationId[]> {
  const ofEndpoint = endpointId === undefined ? '' : ' AND endpointId = :endpoint';
  const query = {
    KeyConditionExpression: 'pk = :pk',
    // The end of all rows of deliveries: "$" follows "#".
    range: { sort: 'sk', from: `DELIVERY#${new Date(sinceMillis).toISOString()}`, to: 'DELIVERY$' },
    FilterExpression: `attribute_exists(creationId) AND attribute_not_exists(nextAttemptAt) AND (attribute_not_exists(outcome) OR outcome <> :delivered)${ofEndpoint}`,
    ProjectionExpression: 'creationId',
    ExpressionAttributeValues: {
      ':pk': keys.account(accountId).pk,
      ':delivered': 'delivered',
      ...(endpointId !== undefined && { ':endpoint': endpointId }),
    },
  };
  for await (const page of queryPages(table, query))
    yield (page.Items ?? []).map((item) => item['creationId'] as CreationId);
}

/** The event of the redelivery is in the same transaction, also when no client reads the account's events. */
async function reopen(
  table: Table,
  creation: CreationRecord,
  nowMillis: number,
  to: string | undefined,
): Promise<boolean> {
  const endpoints = reopened(creation.webhook?.endpoints, nowMillis, to);
  if (endpoints === 'none') return false;
  const id = newEventId(nowMillis, table.randomBytes(16));
  const event = eventItem(table, creation.accountId, { id, of: creation.id, again: true });
  // With a token, a try after a lost answer is the same transaction.
  const token = id.slice(-36);
  const outcome = await transact(
    table,
    [{ Update: reopening(table, creation, nowMillis, endpoints) }, event],
    token,
  );
  if (outcome.kind === 'overloaded') throw new Overloaded('the table stayed busy');
  return outcome.kind === 'done';
}

/** The schedules with a new round. Undefined: the event goes to one address. 'none': nothing is to be sent. */
function reopened(
  known: EndpointSchedules | undefined,
  nowMillis: number,
  to: string | undefined,
): EndpointSchedules | undefined | 'none' {
  // The first round of an event that no redelivery requested uses the current endpoints.
  if (!known || Object.keys(known).length === 0) return known;
  const chosen = Object.entries(known).filter(
    ([name, { status }]) =>
      to === undefined || to === name || (to === failedEndpoints && status === 'failed'),
  );
  if (chosen.length === 0) return 'none';
  const fresh = chosen.map(
    ([name]) => [name, { status: 'pending', attempts: 0, nextAt: nowMillis }] as const,
  );
  return { ...known, ...Object.fromEntries(fresh) };
}

/** The body keeps its bytes, except that a new round gives signed addresses anew: the former may have ended. */
function reopening(
  table: Table,
  creation: CreationRecord,
  nowMillis: number,
  endpoints: EndpointSchedules | undefined,
): NonNullable<TransactItem['Update']> {
  return {
    TableName: table.name,
    Key: keys.creation(creation.id),
    UpdateExpression: `SET webhook.#status = :pending, webhook.attempts = :zero, webhook.nextAt = :now, openShard = :shard, dueAt = :due, executions = :execution, recoveries = :zero${endpoints ? ', webhook.endpoints = :endpoints' : ''}${creation.signedMinutes === undefined ? '' : ' REMOVE webhook.body'}`,
    ConditionExpression:
      'webhook.#status IN (:delivered, :failed, :skipped) AND executions = :executions AND attribute_not_exists(erasedAt)',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ':pending': 'pending',
      ':delivered': 'delivered',
      ':failed': 'failed',
      ':skipped': 'skipped',
      ':zero': 0,
      ':now': nowMillis,
      ':shard': openShard('WEBHOOK', creation.id),
      ':due': nowMillis + overdueMillis,
      ':executions': creation.executions,
      ':execution': creation.executions + 1,
      ...(endpoints && { ':endpoints': endpoints }),
    },
  };
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;
