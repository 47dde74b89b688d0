/** The refund is one transaction. It needs a creation that has not ended, so it is made only once. */
import { dayAttribute, spentAttribute } from '../accounts/account-items.ts';
import { isCounterGivenBack, isDayGivenBack } from '../accounts/caps.ts';
import { userHash } from '../accounts/end-user.ts';
import { type Item, keys, openShard, type Table } from '../aws/dynamodb/table.ts';
import type { TransactItem } from '../aws/dynamodb/transaction.ts';
import type { FailureName } from '../contract/failures.ts';
import { webhookGraceMillis } from '../contract/limits.ts';
import type { CreationRecord, CreationStatus, RouteAttempt } from './creation.ts';
import type { EndingItems } from './event-items.ts';
import { tokenGivenBack } from './token-items.ts';

const isOpen = '#status IN (:queued, :processing)';
/** An attempt is saved before its vendor is called, so nothing was sent that this list does not have. */
const hasTheseAttempts = 'attempts = :known';

export interface Settlement {
  readonly status: Extract<CreationStatus, 'completed' | 'failed'>;
  readonly nowMillis: number;
  readonly announce: boolean;
  readonly values: Item;
  readonly onlyAt?: readonly RouteAttempt[];
}

/** The update that ends a creation, once. With a webhook, it stays in the index of open work. */
export function settleTerminal(table: Table, creation: CreationRecord, settlement: Settlement): TransactItem {
  const { nowMillis, status } = settlement;
  const pending = creation.webhook !== undefined && settlement.announce;
  const set: Item = {
    ...settlement.values,
    completedAt: new Date(nowMillis).toISOString(),
    ...(pending && { openShard: openShard('WEBHOOK', creation.id), dueAt: nowMillis + webhookGraceMillis }),
  };
  const names = Object.keys(set);
  const webhook = creation.webhook && {
    ...creation.webhook,
    nextAt: nowMillis,
    status: settlement.announce ? ('pending' as const) : ('skipped' as const),
  };
  return {
    Update: {
      TableName: table.name,
      Key: keys.creation(creation.id),
      UpdateExpression:
        `SET #status = :status${webhook ? ', webhook = :webhook' : ''}` +
        names.map((_, index) => `, #n${index} = :v${index}`).join('') +
        ` REMOVE lease${pending ? '' : ', openShard, dueAt'}`,
      ConditionExpression: settlement.onlyAt ? `${isOpen} AND ${hasTheseAttempts}` : isOpen,
      ExpressionAttributeNames: {
        '#status': 'status',
        ...Object.fromEntries(names.map((name, index) => [`#n${index}`, name])),
      },
      ExpressionAttributeValues: {
        ':status': status,
        ':queued': 'queued',
        ':processing': 'processing',
        ...(webhook && { ':webhook': webhook }),
        ...(settlement.onlyAt && { ':known': settlement.onlyAt }),
        ...Object.fromEntries(names.map((name, index) => [`:v${index}`, set[name]])),
      },
    },
  };
}

/** The transaction's items: creation, account, key, counter of the user and token if they counted, ledger row. */
export function refundItems(table: Table, creation: CreationRecord, refund: Refund): EndingItems {
  const { failure, nowMillis, announce, isCancelled = false } = refund;
  const at = new Date(nowMillis).toISOString();
  const values = {
    failure,
    refundedMicros: creation.costMicros,
    ...(isCancelled && { cancelledAt: at }),
  };
  return [
    settleTerminal(table, creation, { status: 'failed', nowMillis, announce, values }),
    ...moneyBack(table, creation, nowMillis, isCancelled ? cancelledReason : failure),
  ];
}

/** The same for a cancel. Its condition also holds the attempts that were read. */
export function cancelItems(
  table: Table,
  creation: CreationRecord,
  { nowMillis, attempts }: Cancel,
): EndingItems {
  const at = new Date(nowMillis).toISOString();
  const failure: FailureName = 'InternalFailure';
  const { costMicros: refundedMicros } = creation;
  const values = { failure, refundedMicros, cancelledAt: at, attempts };
  const onlyAt = creation.attempts;
  return [
    settleTerminal(table, creation, { status: 'failed', nowMillis, announce: true, values, onlyAt }),
    ...moneyBack(table, creation, nowMillis, cancelledReason),
  ];
}

const cancelledReason = 'Cancelled';

function moneyBack(
  table: Table,
  creation: CreationRecord,
  nowMillis: number,
  reason: string,
): [TransactItem, ...TransactItem[]] {
  const at = new Date(nowMillis).toISOString();
  const day = dayGivenBack(creation, nowMillis);
  const counter = counterGivenBack(table, creation, nowMillis);
  return [
    {
      Update: {
        TableName: table.name,
        Key: keys.account(creation.accountId),
        UpdateExpression: 'SET availableMicros = availableMicros + :cost, inFlight = inFlight - :one',
        ExpressionAttributeValues: { ':cost': creation.costMicros, ':one': 1 },
      },
    },
    {
      Update: {
        TableName: table.name,
        Key: keys.apiKey(creation.accountId, creation.keyId),
        UpdateExpression: day === undefined ? 'ADD #spent :back' : 'ADD #spent :back, #day :back',
        ExpressionAttributeNames: {
          '#spent': spentAttribute(creation.chargedMonth),
          ...(day !== undefined && { '#day': dayAttribute(day) }),
        },
        ExpressionAttributeValues: { ':back': 0 - creation.costMicros },
      },
    },
    ...counter,
    ...tokenGivenBack(table, creation, nowMillis),
    {
      Put: {
        TableName: table.name,
        Item: {
          ...keys.ledger(creation.accountId, at, 'refund', creation.id),
          kind: 'refund',
          amountMicros: creation.costMicros,
          creationId: creation.id,
          keyId: creation.keyId,
          month: creation.chargedMonth,
          ...(day !== undefined && { day }),
          ...(counter.length > 0 && { countedForUser: true }),
          ...(creation.user !== undefined && { user: creation.user }),
          model: creation.model,
          chargedOn: creation.createdAt.slice(0, 10),
          reason,
          at,
        },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    },
  ];
}

/** The day of the charge. Undefined: an older release named none, or the key may not have it any more. */
function dayGivenBack({ chargedDay }: CreationRecord, nowMillis: number): string | undefined {
  return chargedDay !== undefined && isDayGivenBack(chargedDay, nowMillis) ? chargedDay : undefined;
}

/** The user's counter of the month of the charge, if the charge was counted there and the counter exists. */
function counterGivenBack(table: Table, creation: CreationRecord, nowMillis: number): TransactItem[] {
  const { accountId, keyId, user, chargedMonth, countedForUser } = creation;
  if (!countedForUser || user === undefined || !isCounterGivenBack(chargedMonth, nowMillis)) return [];
  return [
    {
      Update: {
        TableName: table.name,
        Key: keys.userSpend(accountId, keyId, chargedMonth, userHash(user)),
        UpdateExpression: 'ADD spentMicros :userBack',
        ExpressionAttributeValues: { ':userBack': 0 - creation.costMicros },
      },
    },
  ];
}

export interface Cancel {
  readonly nowMillis: number;
  /** The attempts as they are to be stored: the stopped one with its end. */
  readonly attempts: readonly RouteAttempt[];
}

export interface Refund {
  readonly failure: FailureName;
  readonly nowMillis: number;
  /** False when the client gets the failure as the answer to its request: then no webhook is sent. */
  readonly announce: boolean;
  /** The vendor has stopped the job for a cancel: the creation gets its time of cancellation. */
  readonly isCancelled?: boolean;
}
