/**
 * The endpoints of an account are one item. Every write replaces the whole list, under the condition that nobody
 * wrote since the read. The same transaction updates the flags in the account's item.
 */
import { putIf } from '../aws/dynamodb/conditional.ts';
import { getItem } from '../aws/dynamodb/send.ts';
import { endpointsKey, type Item, keys, type Table } from '../aws/dynamodb/table.ts';
import { transact, type TransactItem } from '../aws/dynamodb/transaction.ts';
import { noticeItems } from '../notices/notice-store.ts';
import type { NoticeRecord } from '../notices/notice.ts';
import { Overloaded } from '../values/errors.ts';
import type { AccountId } from '../values/ids.ts';
import { type Endpoint, type Endpoints, flagsOf } from './endpoint.ts';

/** How often a change is made anew because another one came first. */
const mostTries = 5;

function endpointsFromItem(item: Item | undefined): Endpoints {
  return {
    revision: Number(item?.['revision'] ?? 0),
    list: (item?.['endpoints'] ?? []) as readonly Endpoint[],
  };
}

export function createEndpointStore(table: Table) {
  const read = async (id: AccountId): Promise<Endpoints> =>
    endpointsFromItem(await getItem(table, endpointsKey(id)));
  return {
    /** One consistent read. */
    read,
    /** False when another call wrote since the read. @param notices that the same transaction stores */
    write: (
      id: AccountId,
      known: Endpoints,
      next: readonly Endpoint[],
      notices: readonly NoticeRecord[] = [],
    ): Promise<boolean> => write(table, id, known, next, notices),
    /**
     * Changes the list, and returns the stored one. A change is made anew when another one came first, and
     * also when the answer to its own write was lost: then it finds its work done.
     * @param change may throw to refuse
     */
    change: async (
      id: AccountId,
      change: (list: readonly Endpoint[], isAgain: boolean) => readonly Endpoint[],
    ): Promise<readonly Endpoint[]> => {
      for (let tries = 0; tries < mostTries; tries += 1) {
        const known = await read(id);
        const next = change(known.list, tries > 0);
        if (next === known.list || (await write(table, id, known, next, []))) return next;
      }
      throw new Overloaded('the endpoints changed too often');
    },
  };
}

const isUnchanged = 'revision = :revision';

async function write(
  table: Table,
  id: AccountId,
  known: Endpoints,
  next: readonly Endpoint[],
  notices: readonly NoticeRecord[],
): Promise<boolean> {
  const beside = notices.flatMap((notice) => noticeItems(table, notice));
  const item = { ...endpointsKey(id), revision: known.revision + 1, endpoints: next };
  const parts =
    known.revision === 0
      ? { ConditionExpression: 'attribute_not_exists(pk)' }
      : { ConditionExpression: isUnchanged, ExpressionAttributeValues: { ':revision': known.revision } };
  const flags = flagItems(table, id, known.list, next);
  if (flags.length === 0 && beside.length === 0) return putIf(table, item, parts);
  const Put = { TableName: table.name, Item: item, ...parts };
  const outcome = await transact(table, [{ Put }, ...flags, ...beside]);
  if (outcome.kind === 'overloaded') throw new Overloaded('the account stayed busy');
  return outcome.kind === 'done';
}

/** The change of the account's item. Empty when it says already what the next list needs. */
function flagItems(
  table: Table,
  id: AccountId,
  before: readonly Endpoint[],
  next: readonly Endpoint[],
): readonly TransactItem[] {
  const [old, flags] = [flagsOf(before), flagsOf(next)];
  const names = ['creationEndpoints', 'noticeEndpoints'] as const;
  if (names.every((name) => old[name] === flags[name])) return [];
  const set = names.filter((name) => flags[name]).map((name) => `${name} = :true`);
  const removed = names.filter((name) => !flags[name]);
  return [
    {
      Update: {
        TableName: table.name,
        Key: keys.account(id),
        UpdateExpression: [
          ...(set.length > 0 ? [`SET ${set.join(', ')}`] : []),
          ...(removed.length > 0 ? [`REMOVE ${removed.join(', ')}`] : []),
        ].join(' '),
        ConditionExpression: 'attribute_exists(pk)',
        ...(set.length > 0 && { ExpressionAttributeValues: { ':true': true } }),
      },
    },
  ];
}

export type EndpointStore = ReturnType<typeof createEndpointStore>;
