/** The item of an automatic top-up, and the changes of it that other transactions take along. */
import { autoTopUpKey } from '../accounts/top-up-state-reads.ts';
import { type Item, openWorkIndex, type Table } from '../aws/dynamodb/table.ts';
import type { TransactItem } from '../aws/dynamodb/transaction.ts';
import type { AccountId } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';
import type { AutoTopUp, PauseReason } from './auto-top-up.ts';

/** The part of the index of open work with every account whose automatic top-up is on and not paused. */
export const runningTopUps = 'AUTO_TOP_UP';

/** The attribute that holds what the payments of a month reserve. */
export function reservedName(month: string): string {
  return `${reserved}${month}`;
}

const reserved = 'reserved_';

export function autoTopUpFromItem(accountId: AccountId, item: Item | undefined): AutoTopUp {
  const months = Object.entries(item ?? {}).filter(([name]) => name.startsWith(reserved));
  const { isOn, choice, open, paused, customer, card, capTold, version } = (item ?? {}) as Partial<AutoTopUp>;
  return {
    accountId,
    isOn: isOn ?? false,
    version: version ?? 0,
    reservedMicros: Object.fromEntries(
      months.map(([name, micros]) => [name.slice(reserved.length), micros as Micros]),
    ),
    ...(choice && { choice }),
    ...(open !== undefined && { open }),
    ...(paused !== undefined && { paused }),
    ...(customer !== undefined && { customer }),
    ...(card && { card }),
    ...(capTold !== undefined && { capTold }),
  };
}

/** Changes of one item. Attributes that are undefined are removed. */
export interface TopUpChange {
  readonly set?: Readonly<Partial<Record<keyof AutoTopUp, unknown>>>;
  /** The change of the amount that the month of a payment reserves. */
  readonly reserve?: { readonly month: string; readonly micros: number };
  /** Whether the worker checks the account from now on. Absent: as before. */
  readonly isRunning?: boolean;
  /** Also makes the change refuse what others read before. */
  readonly isVersioned?: boolean;
  /** Names begin with # and values with :, as in every expression. */
  readonly condition?: {
    readonly text: string;
    readonly names?: Readonly<Record<string, string>>;
    readonly values?: Item;
  };
}

/** Every attribute has a placeholder, as some of their names are reserved words of DynamoDB. */
export function changeOf(table: Table, account: AccountId, change: TopUpChange): TransactItem {
  const { set = {}, reserve, isRunning, isVersioned = false, condition } = change;
  const index =
    isRunning === undefined
      ? []
      : [
          [openWorkIndex.partition, isRunning ? runningTopUps : undefined] as const,
          // These accounts have no due time: the worker checks all of them at each run.
          [openWorkIndex.sort, isRunning ? 0 : undefined] as const,
        ];
  const all = [...Object.entries(set), ...index].map(([name, value], place) => ({
    name,
    value,
    at: `#c${place}`,
    to: `:c${place}`,
  }));
  const kept = all.filter(({ value }) => value !== undefined);
  const removed = all.filter(({ value }) => value === undefined);
  const sets = [
    ...kept.map(({ at, to }) => `${at} = ${to}`),
    ...(isVersioned ? ['#version = if_not_exists(#version, :none) + :one'] : []),
  ];
  return {
    Update: {
      TableName: table.name,
      Key: autoTopUpKey(account),
      UpdateExpression: [
        ...(sets.length > 0 ? [`SET ${sets.join(', ')}`] : []),
        ...(removed.length > 0 ? [`REMOVE ${removed.map(({ at }) => at).join(', ')}`] : []),
        ...(reserve ? ['ADD #reserved :reserve'] : []),
      ].join(' '),
      ...(condition && { ConditionExpression: condition.text }),
      ExpressionAttributeNames: {
        ...Object.fromEntries(all.map(({ at, name }) => [at, name])),
        ...(isVersioned && { '#version': 'version' }),
        ...(reserve && { '#reserved': reservedName(reserve.month) }),
        ...condition?.names,
      },
      ...((kept.length > 0 || isVersioned || reserve || condition?.values) && {
        ExpressionAttributeValues: {
          ...Object.fromEntries(kept.map(({ to, value }) => [to, value])),
          ...(isVersioned && { ':none': 0, ':one': 1 }),
          ...(reserve && { ':reserve': reserve.micros }),
          ...condition?.values,
        },
      }),
    },
  };
}

/** The condition that the item is as it was read. */
export function asRead({ version }: AutoTopUp): NonNullable<TopUpChange['condition']> {
  const names = { '#read': 'version' };
  return version === 0
    ? { text: 'attribute_not_exists(#read)', names }
    : { text: '#read = :read', names, values: { ':read': version } };
}

/** Only a person ends a pause. */
export function pauseChange(reason: PauseReason): TopUpChange {
  return { set: { paused: reason }, isRunning: false, isVersioned: true };
}
