/** What the operator API reads and changes of accounts beyond the stores of accounts: external ids, edits, ledger pages. */
import { ledgerRowFromItem } from '../accounts/account-items.ts';
import { isStored } from '../accounts/account-settings-store.ts';
import type { Account, LedgerRow } from '../accounts/account.ts';
import { getItem, queryPage } from '../aws/dynamodb/send.ts';
import { type Item, type ItemKey, keys, type Table } from '../aws/dynamodb/table.ts';
import { transact, type TransactItem } from '../aws/dynamodb/transaction.ts';
import { Overloaded } from '../values/errors.ts';
import { type AccountId, parseAccountId } from '../values/ids.ts';
import { dayAfter } from '../values/time.ts';
import type { Days } from '../usage/booked-row.ts';

/** Attributes of the account's item. null removes an attribute. */
export type AccountEdit = Readonly<Record<string, unknown>>;

/** Where the operator's own name for an account leads to it. */
export function externalKey(externalId: string): ItemKey {
  return { pk: `EXTERNAL#${externalId}`, sk: 'EXTERNAL' };
}

export interface PlacedRow {
  /** The key of the row behind "LEDGER#", unique in the account. */
  readonly id: string;
  readonly row: LedgerRow;
}

export function createAccountEdits(table: Table) {
  return {
    /** The account that has this external id. */
    named: async (externalId: string): Promise<AccountId | undefined> => {
      const item = await getItem(table, externalKey(externalId));
      return item && parseAccountId(String(item['account']));
    },
    toName: (externalId: string, account: AccountId): TransactItem => ({
      Put: {
        TableName: table.name,
        Item: { ...externalKey(externalId), account },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    }),
    /** @param asRead the attributes that must still have these values */
    edit: (account: Account, edit: AccountEdit, asRead: AccountEdit): Promise<boolean> =>
      editAccount(table, account, edit, asRead),
    /** The oldest first. @param after the id of the last row of the page before */
    ledger: async (
      id: AccountId,
      days: Days,
      limit: number,
      after?: string,
    ): Promise<readonly PlacedRow[]> => {
      const { pk } = keys.account(id);
      const page = await queryPage(table, {
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        range: { sort: 'sk', from: `LEDGER#${days.from}`, to: `LEDGER#${dayAfter(days.to)}` },
        Limit: limit,
        ...(after !== undefined && { ExclusiveStartKey: { pk, sk: `LEDGER#${after}` } }),
      });
      return (page.Items ?? []).map((item) => ({
        id: String(item['sk']).slice('LEDGER#'.length),
        row: ledgerRowFromItem(item),
      }));
    },
  };
}

/** An account from before these limits lacks them, and then has their defaults. */
const laterLimits: readonly string[] = ['maxUnusedUploads', 'userPostRate', 'userGetRate'];

function isStill(name: string): string {
  const isSame = `#${name} = :read_${name}`;
  return laterLimits.includes(name) ? `(attribute_not_exists(#${name}) OR ${isSame})` : isSame;
}

async function editAccount(
  table: Table,
  account: Account,
  edit: AccountEdit,
  asRead: AccountEdit,
): Promise<boolean> {
  const set = Object.entries(edit).filter(([, value]) => value !== null);
  const removed = Object.entries(edit).filter(([, value]) => value === null);
  const held = Object.entries(asRead);
  const parts = {
    UpdateExpression: [
      ...(set.length > 0 ? [`SET ${set.map(([name]) => `#${name} = :${name}`).join(', ')}`] : []),
      ...(removed.length > 0 ? [`REMOVE ${removed.map(([name]) => `#${name}`).join(', ')}`] : []),
    ].join(' '),
    ConditionExpression: [
      'attribute_exists(pk)',
      ...held.map(([name, value]) =>
        value === undefined ? `attribute_not_exists(#${name})` : isStill(name),
      ),
    ].join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(
      [...Object.keys(edit), ...Object.keys(asRead)].map((name) => [`#${name}`, name]),
    ),
    ExpressionAttributeValues: Object.fromEntries([
      ...set.map(([name, value]) => [`:${name}`, value]),
      ...held.flatMap(([name, value]) => (value === undefined ? [] : [[`:read_${name}`, value]])),
    ]) as Item,
  };
  const { ExpressionAttributeValues: values, ...others } = parts;
  const update = Object.keys(values).length > 0 ? parts : others;
  const { externalId } = edit;
  if (externalId === undefined || externalId === (account.externalId ?? null))
    return isStored(table, account.id, update, (item) =>
      Object.entries(edit).every(
        ([name, value]) => JSON.stringify(item[name] ?? null) === JSON.stringify(value),
      ),
    );
  const pointers: TransactItem[] = [
    ...(typeof externalId === 'string'
      ? [
          {
            Put: {
              TableName: table.name,
              Item: { ...externalKey(externalId), account: account.id },
              ConditionExpression: 'attribute_not_exists(pk)',
            },
          },
        ]
      : []),
    ...(account.externalId === undefined
      ? []
      : [{ Delete: { TableName: table.name, Key: externalKey(account.externalId) } }]),
  ];
  const Update = { TableName: table.name, Key: keys.account(account.id), ...update };
  // By the token DynamoDB recognizes a second try of ours, after a first one whose answer was lost.
  const token = Buffer.from(table.randomBytes(24)).toString('base64url');
  const outcome = await transact(table, [{ Update }, ...pointers], token);
  if (outcome.kind === 'overloaded') throw new Overloaded('the account stayed busy');
  return outcome.kind === 'done';
}
