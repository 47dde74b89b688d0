/**
 * Enters money that moved after the moment of a restore: each ledger row once, by the transaction that also changes
 * the sums of its account, its key and its user. A creation comes with all its rows, or not at all.
 */
import { TransactionCanceledException, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { dayAttribute, spentAttribute } from '../../service/accounts/account-items.ts';
import { counterExpiry } from '../../service/accounts/caps.ts';
import { userHash } from '../../service/accounts/end-user.ts';
import { keys, ttlAttribute } from '../../service/aws/dynamodb/table.ts';
import type { AccountId, KeyId } from '../../service/values/ids.ts';
import { patiently, pauseMillis, tries } from '../move/busy-table.ts';
import { canonical, numberOf, type RawItem, textOf } from '../move/items.ts';
import type { OperatorServices } from '../services.ts';
import { keyName, keyOf, type Restored } from './old-items.ts';

/** The result of a comparison: nothing is missing, something is missing, or others have changed the item. */
export type Missing =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'missing'; readonly change: 'new' | 'ended' | 'changed'; readonly entry: Entry }
  | { readonly kind: 'differs'; readonly why: string };

interface Entry {
  readonly rows: readonly RawItem[];
  readonly record?: { readonly item: RawItem; readonly before: RawItem | undefined };
}

const rounds = 6;
const isNew = { ConditionExpression: 'attribute_not_exists(pk)' } as const;

/** Compares and enters until nothing is missing. @param isEntered false: only compares */
export async function enterMoney(
  compare: () => Promise<Missing>,
  services: OperatorServices,
  isEntered: boolean,
): Promise<Missing> {
  const first = await compare();
  if (!isEntered || first.kind !== 'missing') return first;
  let open: Missing = first;
  for (let round = 1; round <= rounds && open.kind === 'missing'; round += 1) {
    if ((await enter(open.entry, services)) === 'entered') return first;
    open = await compare();
  }
  if (open.kind === 'missing') return { kind: 'differs', why: 'its account or its key is missing, or busy' };
  return open.kind === 'nothing' ? first : open;
}

/** A top-up, an adjustment or a change of the credit line, whose row the restored table does not have. */
export async function compareMovement(row: RawItem, { old, restored }: Restored): Promise<Missing> {
  const reference = row['reference']?.S;
  const account = accountOf(row);
  const key = reference === undefined ? undefined : raw(keys.reference(account, reference));
  const [was, is] = await Promise.all([
    old.get(key ? [key] : []),
    restored.get([row, ...(key ? [key] : [])]),
  ]);
  if (is.has(keyName(row))) return { kind: 'nothing' };
  const [ours, theirs] = key ? [was.get(keyName(key)), is.get(keyName(key))] : [];
  // The same reference was entered by hand.
  if (theirs && ours && canonical(theirs) !== canonical(ours))
    return numberOf(theirs, 'amountMicros') === numberOf(row, 'amountMicros')
      ? { kind: 'nothing' }
      : { kind: 'differs', why: 'its reference names another amount here' };
  return { kind: 'missing', change: 'new', entry: { rows: [row] } };
}

/** A creation that was charged, or has ended, after the moment. @param rows what the old ledger has of it */
export async function compareCreation(
  old: RawItem | undefined,
  rows: readonly RawItem[],
  { restored }: Restored,
  isUsed: boolean,
): Promise<Missing> {
  const found = await restored.get([...rows, ...(old ? [old] : [])]);
  const missing = rows.filter((row) => !found.has(keyName(row)));
  const here = old && found.get(keyName(old));
  if (!old)
    return missing.length === 0
      ? { kind: 'nothing' }
      : { kind: 'differs', why: 'the old table has rows and no record' };
  if (!here)
    return {
      kind: 'missing',
      change: 'new',
      entry: { rows: missing, record: { item: old, before: undefined } },
    };
  const isSame = canonical(here) === canonical(old);
  if (isOpen(here)) {
    const record = { item: old, before: here };
    if (!isOpen(old)) return { kind: 'missing', change: 'ended', entry: { rows: missing, record } };
    if (isSame || isUsed) return rowsOnly(missing);
    return { kind: 'missing', change: 'changed', entry: { rows: missing, record } };
  }
  if (isOpen(old)) return rowsOnly([]);
  if (
    textOf(here, 'status') !== textOf(old, 'status') ||
    textOf(here, 'completedAt') !== textOf(old, 'completedAt')
  )
    return {
      kind: 'differs',
      why: `here it is ${textOf(here, 'status')}, and in the old table ${textOf(old, 'status')}`,
    };
  if (isSame || (isUsed && old['erasedAt'] === undefined)) return rowsOnly(missing);
  return {
    kind: 'missing',
    change: 'changed',
    entry: { rows: missing, record: { item: old, before: here } },
  };
}

function rowsOnly(rows: readonly RawItem[]): Missing {
  return rows.length === 0 ? { kind: 'nothing' } : { kind: 'missing', change: 'new', entry: { rows } };
}

function isOpen(record: RawItem): boolean {
  return ['queued', 'processing'].includes(textOf(record, 'status'));
}

export function accountOf(item: RawItem): AccountId {
  return (textOf(item, 'accountId') || textOf(item, 'pk').slice('ACCOUNT#'.length)) as AccountId;
}

export function raw(key: { readonly pk: string; readonly sk: string }): RawItem {
  return { pk: { S: key.pk }, sk: { S: key.sk } };
}

/** One transaction. 'refused': the table has changed since it was read. */
async function enter(entry: Entry, services: OperatorServices): Promise<'entered' | 'refused'> {
  const TransactItems = itemsOf(entry, services.table.name);
  for (let attempt = 1; ; attempt += 1)
    try {
      await patiently(services, () =>
        services.raw.dynamo.send(new TransactWriteItemsCommand({ TransactItems })),
      );
      return 'entered';
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      if (error.CancellationReasons?.some(({ Code }) => Code === 'ConditionalCheckFailed')) return 'refused';
      if (attempt === tries) throw error;
      await services.clock.sleep(pauseMillis(attempt));
    }
}

function itemsOf({ rows, record }: Entry, TableName: string): TransactWriteItem[] {
  const sums = new Map<string, { key: RawItem; add: Map<string, number> }>();
  const add = (key: RawItem, name: string, by: number): void => {
    const one = sums.get(keyName(key)) ?? { key, add: new Map<string, number>() };
    one.add.set(name, (one.add.get(name) ?? 0) + by);
    sums.set(keyName(key), one);
  };
  for (const row of rows) {
    const account = accountOf(row);
    const amount = numberOf(row, 'amountMicros');
    add(raw(keys.account(account)), 'availableMicros', amount);
    if (textOf(row, 'kind') === 'credit_line') add(raw(keys.account(account)), 'creditLineMicros', amount);
    const [key, month, day] = [textOf(row, 'keyId') as KeyId, textOf(row, 'month'), textOf(row, 'day')];
    if (month !== '') add(raw(keys.apiKey(account, key)), spentAttribute(month), 0 - amount);
    if (day !== '') add(raw(keys.apiKey(account, key)), dayAttribute(day), 0 - amount);
    if (row['countedForUser']?.BOOL === true && row['user'])
      add(raw(keys.userSpend(account, key, month, userHash(textOf(row, 'user')))), 'spentMicros', 0 - amount);
  }
  if (record) {
    const { item, before } = record;
    const opened = Number(isOpen(item)) - Number(before !== undefined && isOpen(before));
    if (opened !== 0) add(raw(keys.account(accountOf(item))), 'inFlight', opened);
  }
  return [
    ...rows.map((Item) => ({ Put: { TableName, Item, ...isNew } })),
    ...(record ? [{ Put: { TableName, Item: record.item, ...asItWas(record.before) } }] : []),
    ...[...sums.values()].map(({ key, add: by }) => sumOf(TableName, key, by)),
  ];
}

function asItWas(before: RawItem | undefined): Partial<TransactWriteItem['Put']> {
  if (!before) return isNew;
  return {
    ConditionExpression: '#status = :before',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':before': { S: textOf(before, 'status') } },
  };
}

function sumOf(TableName: string, Key: RawItem, by: ReadonlyMap<string, number>): TransactWriteItem {
  const changes = [...by];
  const [, month] = /^USER#[^#]+#([^#]+)#/.exec(textOf(Key, 'sk')) ?? [];
  return {
    Update: {
      TableName,
      Key: keyOf(Key),
      UpdateExpression: `ADD ${changes.map((_, at) => `#n${at} :v${at}`).join(', ')}${month === undefined ? '' : ' SET #ttl = :ttl'}`,
      ...(month === undefined && { ConditionExpression: 'attribute_exists(pk)' }),
      ExpressionAttributeNames: {
        ...Object.fromEntries(changes.map(([name], at) => [`#n${at}`, name])),
        ...(month !== undefined && { '#ttl': ttlAttribute }),
      },
      ExpressionAttributeValues: {
        ...Object.fromEntries(changes.map(([, change], at) => [`:v${at}`, { N: String(change) }])),
        ...(month !== undefined && { ':ttl': { N: String(Math.ceil(counterExpiry(month) / 1000)) } }),
      },
    },
  };
}
