import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Account } from '../../core/account.ts';
import type { CreationRecord } from '../../core/creation.ts';
import { timeOfUuidV7, type AccountId } from '../../core/ids.ts';
import type { Delivery, DeliveryClaim, DeliveryStore } from '../../core/ports.ts';
import { webhookAttempts } from '../../core/webhook.ts';
import { updateIf } from './conditional.ts';
import { queryAll } from './query.ts';
import { deliveryFromItem } from './mapping.ts';
import { keys, openShard, ttlAttribute, type Item, type Table } from './table.ts';
import { transact, type TransactItem } from './transaction.ts';

const logDays = 30;
/** After this much more than an attempt's due time the reconciler takes the webhook up. */
const overdueMillis = 30_000;

const isNext = 'webhook.#status = :pending AND webhook.attempts = :before AND webhook.nextAt <= :now';
const isUsedUp = 'webhook.#status = :pending AND webhook.attempts = :last';
const isThisAttempt = 'webhook.#status = :pending AND webhook.attempts = :attempt';

/** Webhook attempts: claimed in the record before anything is sent, and logged with it. */
export function createDeliveryStore(table: Table): DeliveryStore {
  return {
    accountSecrets: async (accountId) => {
      const answer = await table.client.send(
        new GetCommand({ TableName: table.name, Key: keys.account(accountId), ConsistentRead: true, ProjectionExpression: 'webhookSecrets' }),
      );
      return (answer.Item as Pick<Account, 'webhookSecrets'> | undefined)?.webhookSecrets ?? [];
    },
    claim: async (claim) => {
      const outcome = await transact(table, [claimItem(table, claim), logItem(table, claim.delivery)]);
      // A busy table is like an attempt that is not due: nothing was sent, the state machine comes again.
      return outcome.kind === 'done';
    },
    settle: async (delivery, next) => {
      const row = { ...delivery, ...('at' in next && { nextAttemptAt: new Date(next.at).toISOString() }) };
      const outcome = await transact(table, [settleItem(table, delivery, next), logItem(table, row)]);
      if (outcome.kind === 'overloaded') throw new Error('the table stayed busy: the attempt is settled by its next claim');
      // Somebody moved on meanwhile; how this attempt ended is still worth its row in the log.
      if (outcome.kind === 'refused') await table.client.send(new PutCommand({ TableName: table.name, Item: logRow(row) }));
    },
    skip: async (id) => {
      await table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: keys.creation(id),
          UpdateExpression: 'SET webhook.#status = :skipped REMOVE openShard, dueAt',
          ConditionExpression: 'webhook.#status = :pending',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':skipped': 'skipped', ':pending': 'pending' },
        }),
      );
    },
    giveUp: async (id) => {
      await updateIf(table, keys.creation(id), {
        UpdateExpression: 'SET webhook.#status = :failed REMOVE openShard, dueAt',
        ConditionExpression: isUsedUp,
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':failed': 'failed', ':pending': 'pending', ':last': webhookAttempts },
      });
    },
    claimTest: (accountId, intervalMillis, nowMillis) => claimTest(table, accountId, intervalMillis, nowMillis),
    record: async (delivery) => {
      await table.client.send(new PutCommand({ TableName: table.name, Item: logRow(delivery) }));
    },
    find: async (accountId, deliveryId) => {
      // A delivery's id is made of the time at which it started, which is its place in the log.
      const startedAt = timeOfUuidV7(deliveryId);
      if (startedAt === undefined) return undefined;
      const key = keys.delivery(accountId, new Date(startedAt).toISOString(), deliveryId);
      const answer = await table.client.send(new GetCommand({ TableName: table.name, Key: key, ConsistentRead: true }));
      return answer.Item && deliveryFromItem(answer.Item);
    },
    log: async (accountId, limit) => (await queryAll(table, keys.account(accountId).pk, 'DELIVERY#', true, limit)).map(deliveryFromItem),
    reopen: (creation, nowMillis) => reopen(table, creation, nowMillis),
  };
}

function claimItem(table: Table, { delivery, body, nextAt, nowMillis }: DeliveryClaim): TransactItem {
  return {
    Update: {
      TableName: table.name,
      Key: keys.creation(delivery.creationId),
      UpdateExpression:
        'SET webhook.attempts = :attempt, webhook.nextAt = :next, webhook.body = if_not_exists(webhook.body, :body), openShard = :shard, dueAt = :due',
      ConditionExpression: isNext,
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ':pending': 'pending',
        ':before': delivery.attempt - 1,
        ':attempt': delivery.attempt,
        ':now': nowMillis,
        ':next': nextAt,
        ':body': body,
        ':shard': openShard('WEBHOOK', delivery.creationId),
        ':due': nextAt + overdueMillis,
      },
    },
  };
}

function settleItem(table: Table, delivery: Delivery, next: Parameters<DeliveryStore['settle']>[1]): TransactItem {
  const waits = 'at' in next;
  return {
    Update: {
      TableName: table.name,
      Key: keys.creation(delivery.creationId),
      UpdateExpression: waits ? 'SET webhook.nextAt = :next, dueAt = :due' : 'SET webhook.#status = :settled REMOVE openShard, dueAt',
      ConditionExpression: isThisAttempt,
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ':pending': 'pending',
        ':attempt': delivery.attempt,
        ...(waits ? { ':next': next.at, ':due': next.at + overdueMillis } : { ':settled': next.status }),
      },
    },
  };
}

function logRow(delivery: Delivery): Item {
  const startedSeconds = Math.floor(Date.parse(delivery.startedAt) / 1000);
  return {
    ...keys.delivery(delivery.accountId, delivery.startedAt, delivery.id),
    ...delivery,
    [ttlAttribute]: startedSeconds + logDays * 86_400,
  };
}

function logItem(table: Table, delivery: Delivery): TransactItem {
  return { Put: { TableName: table.name, Item: logRow(delivery) } };
}

async function claimTest(table: Table, accountId: AccountId, intervalMillis: number, nowMillis: number): Promise<number> {
  const key = keys.testDelivery(accountId);
  const claimed = await updateIf(table, key, {
    UpdateExpression: 'SET lastAt = :now',
    ConditionExpression: 'attribute_not_exists(lastAt) OR lastAt <= :before',
    ExpressionAttributeValues: { ':now': nowMillis, ':before': nowMillis - intervalMillis },
  });
  if (claimed) return 0;
  const answer = await table.client.send(new GetCommand({ TableName: table.name, Key: key, ConsistentRead: true }));
  return Math.max(1, Number(answer.Item?.['lastAt']) + intervalMillis - nowMillis);
}

async function reopen(table: Table, creation: CreationRecord, nowMillis: number): Promise<boolean> {
  return updateIf(table, keys.creation(creation.id), {
    UpdateExpression:
      'SET webhook.#status = :pending, webhook.attempts = :zero, webhook.nextAt = :now, openShard = :shard, dueAt = :due, executions = :execution, recoveries = :zero',
    ConditionExpression: 'webhook.#status IN (:delivered, :failed, :skipped) AND executions = :executions',
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
    },
  });
}
