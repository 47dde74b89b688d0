/** The settings of an account that its own people change: the webhook secrets and the alerts. */
import { tryUpdate } from '../aws/dynamodb/conditional.ts';
import { getItem, type UpdateParts } from '../aws/dynamodb/send.ts';
import { type Item, keys, type Table } from '../aws/dynamodb/table.ts';
import { transact, type TransactItem } from '../aws/dynamodb/transaction.ts';
import { Overloaded } from '../values/errors.ts';
import type { AccountId } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';
import { accountFromItem, secretsFromItem } from './account-items.ts';
import type { Account, SealedSecret } from './account.ts';
import { alertsVersion } from './version.ts';

/** Every function throws Overloaded when the table stayed busy. A retry recognizes its own lost write. */
export function createAccountSettings(table: Table) {
  return {
    read: async (id: AccountId): Promise<Account | undefined> => {
      const item = await getItem(table, keys.account(id));
      return item && accountFromItem(item);
    },
    /** Stores a new list of secrets. False when the current secret is no longer the given one. */
    replaceSecrets: (
      id: AccountId,
      current: SealedSecret | undefined,
      next: readonly SealedSecret[],
      beside: readonly TransactItem[] = [],
    ): Promise<boolean> => replaceSecrets(table, id, current, next, beside),
    /** Changes both alerts. False when another call changed one of them since the account was read. */
    changeAlerts: (read: Account, next: Required<NoticeSettings>): Promise<boolean> =>
      changeAlerts(table, read, next),
    /** False when another call changed the budget since the account was read. */
    changeBudget: (read: Account, next: Micros | undefined): Promise<boolean> =>
      changeBudget(table, read, next),
  };
}

async function replaceSecrets(
  table: Table,
  id: AccountId,
  current: SealedSecret | undefined,
  next: readonly SealedSecret[],
  beside: readonly TransactItem[],
): Promise<boolean> {
  const parts = {
    UpdateExpression: 'SET webhookSecrets = :next',
    ConditionExpression: current
      ? 'webhookSecrets[0].sealed = :current'
      : 'attribute_not_exists(webhookSecrets[0])',
    ExpressionAttributeValues: { ':next': next, ...(current && { ':current': current.sealed }) },
  };
  if (beside.length > 0) {
    const Update = { TableName: table.name, Key: keys.account(id), ...parts };
    const outcome = await transact(table, [{ Update }, ...beside]);
    if (outcome.kind === 'overloaded') throw new Overloaded('the account stayed busy');
    return outcome.kind === 'done';
  }
  return isStored(table, id, parts, (item) => {
    const [stored] = secretsFromItem(item);
    return next[0] !== undefined && stored?.sealed === next[0].sealed;
  });
}

async function changeBudget(table: Table, read: Account, next: Micros | undefined): Promise<boolean> {
  const { monthlyBudgetMicros: before } = read;
  const values = {
    ...(before !== undefined && { ':read': before }),
    ...(next !== undefined && { ':next': next }),
  };
  const asRead =
    before === undefined ? 'attribute_not_exists(monthlyBudgetMicros)' : 'monthlyBudgetMicros = :read';
  const parts: UpdateParts = {
    UpdateExpression: next === undefined ? 'REMOVE monthlyBudgetMicros' : 'SET monthlyBudgetMicros = :next',
    ConditionExpression: `attribute_exists(pk) AND ${asRead}`,
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  };
  return isStored(table, read.id, parts, (item) => item['monthlyBudgetMicros'] === next);
}

async function changeAlerts(table: Table, read: Account, next: Required<NoticeSettings>): Promise<boolean> {
  const names = ['noticeUrl', 'lowBalanceMicros'] as const;
  const set = names.filter((name) => next[name] !== null);
  const removed = names.filter((name) => next[name] === null);
  const asRead = names.map((name) =>
    read[name] === undefined ? `attribute_not_exists(${name})` : `${name} = :read_${name}`,
  );
  const values = Object.fromEntries([
    ...set.map((name) => [`:${name}`, next[name]]),
    ...names.flatMap((name) => (read[name] === undefined ? [] : [[`:read_${name}`, read[name]]])),
  ]) as Item;
  const parts: UpdateParts = {
    UpdateExpression: [
      ...(set.length > 0 ? [`SET ${set.map((name) => `${name} = :${name}`).join(', ')}`] : []),
      ...(removed.length > 0 ? [`REMOVE ${removed.join(', ')}`] : []),
    ].join(' '),
    ConditionExpression: ['attribute_exists(pk)', ...asRead].join(' AND '),
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  };
  const wanted = alertsVersion({
    ...(next.noticeUrl !== null && { noticeUrl: next.noticeUrl }),
    ...(next.lowBalanceMicros !== null && { lowBalanceMicros: next.lowBalanceMicros }),
  });
  return isStored(table, read.id, parts, (item) => alertsVersion(accountFromItem(item)) === wanted);
}

/** Whether the account has the new values. A refused retry may follow a first write that succeeded. */
export async function isStored(
  table: Table,
  id: AccountId,
  parts: UpdateParts,
  isOurs: (found: Item) => boolean,
): Promise<boolean> {
  const outcome = await tryUpdate(table, keys.account(id), parts);
  switch (outcome.kind) {
    case 'written':
      return true;
    case 'busy':
      throw new Overloaded('the account stayed busy');
    case 'refused':
      return outcome.item !== undefined && isOurs(outcome.item);
  }
}

// What clients change of their account by themselves.

export interface NoticeSettings {
  /** null removes the address: no further notice is sent. */
  readonly noticeUrl?: string | null;
  /** null removes the threshold of wallet.low. */
  readonly lowBalanceMicros?: Micros | null;
}
