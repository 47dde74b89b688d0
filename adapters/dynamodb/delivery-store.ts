import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Account } from '../../core/account.ts';
import type { AccountId } from '../../core/ids.ts';
import type { Delivery, DeliveryClaim, DeliveryStore } from '../../core/ports.ts';
import { queryAll } from './query.ts';
import { deliveryFromItem } from './mapping.ts';
import { keys, openShard, ttlAttribute, type Item, type Table } from './table.ts';
import { transact, type TransactItem } from './transaction.ts';

const logDays = 30;
/** After this much more than an attempt's due time the reconciler takes the webhook up. */
const overdueMillis = 30_000;

const isNext = 'webhook.#status = :pending AND webhook.attempts = :before AND webhook.nextAt <= :now';
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

/** The delivery log of an account, newest first. */
export async function readDeliveryLog(table: Table, accountId: AccountId, limit: number): Promise<Delivery[]> {
  return (await queryAll(table, keys.account(accountId).pk, 'DELIVERY#', true, limit)).map(deliveryFromItem);
}
