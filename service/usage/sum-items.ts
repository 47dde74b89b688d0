/**
 * The items of the sums of a day: one set of pages for each dimension, one for the refunds of charges of other days,
 * and one for the rows that are no charge and no refund. The first request that sums the day writes them. Two requests
 * at once write the same.
 *
 * A page is a compressed list, because a year of users is read in a few pages of a query. Each page has the
 * number of pages of its set. A set counts only when all of its pages are there and say the same number.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { queryPages } from '../aws/dynamodb/query.ts';
import { send } from '../aws/dynamodb/send.ts';
import { type Item, type ItemKey, keys, type Table } from '../aws/dynamodb/table.ts';
import { Overloaded } from '../values/errors.ts';
import type { AccountId } from '../values/ids.ts';
import type { DaySums, GroupSums, LateRefund, Movement, UsageSum } from './day-sums.ts';
import { type UsageDimension, usageDimensions } from './usage.ts';

/** The form of the pages. Pages of another form are summed anew. */
const form = 1;
/** Before compression, in bytes. An item may have 400 KB, and a text of clients may not compress at all. */
const mostBytes = 250_000;
/** BatchWriteItem takes at most this many items. */
const writeAtOnce = 25;

type Dimension = UsageDimension | 'late' | 'moves';
type Entry = readonly (string | number | null)[];

function keyOfPage(account: AccountId, by: Dimension, day: string, page: number): ItemKey {
  const { pk } = keys.account(account);
  return { pk, sk: `USAGE#${by}#${day}#${String(page).padStart(4, '0')}` };
}

/** Writes the sums of days. A busy table is no reason to refuse the reader, who has the sums in hand. */
export async function writeSums(table: Table, account: AccountId, days: readonly DaySums[]): Promise<void> {
  const items = days.flatMap((day) => itemsOf(account, day));
  const parts = Array.from({ length: Math.ceil(items.length / writeAtOnce) }, (_, part) =>
    items.slice(part * writeAtOnce, (part + 1) * writeAtOnce),
  );
  await Promise.all(parts.map((part) => writeTogether(table, part)));
}

async function writeTogether(table: Table, items: readonly Item[]): Promise<void> {
  const requests = items.map((item) => ({ PutRequest: { Item: item } }));
  try {
    // What stays unprocessed is written by the next reader.
    await send(table, (options) =>
      table.client.send(new BatchWriteCommand({ RequestItems: { [table.name]: requests } }), options),
    );
  } catch (error) {
    if (!(error instanceof Overloaded)) throw error;
  }
}

function itemsOf(account: AccountId, { day, groups, late, moves }: DaySums): Item[] {
  const sets: [Dimension, Entry[]][] = [
    ...usageDimensions.map((by): [Dimension, Entry[]] => [by, entriesOf(groups[by])]),
    ['late', late.map(({ chargedOn, micros, key, model, user }) => [chargedOn, micros, key, model, user])],
    ['moves', moves.map((row) => [JSON.stringify(row)])],
  ];
  return sets.flatMap(([by, entries]) => {
    const pages = pagesOf(entries);
    return pages.map((page, number) => ({
      ...keyOfPage(account, by, day, number),
      form,
      pages: pages.length,
      sums: deflateRawSync(page),
    }));
  });
}

function entriesOf(groups: GroupSums): Entry[] {
  return [...groups].map(([group, sum]) => [
    group,
    sum.creations,
    sum.failed,
    sum.chargedMicros,
    sum.refundedMicros,
  ]);
}

/** The entries as texts of JSON, each short enough for an item. A day without an entry has one page, too. */
function pagesOf(entries: readonly Entry[]): string[] {
  const pages: string[] = [];
  let page: string[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const text = JSON.stringify(entry);
    const length = Buffer.byteLength(text) + 1;
    if (bytes + length > mostBytes && page.length > 0) {
      pages.push(`[${page.join(',')}]`);
      [page, bytes] = [[], 0];
    }
    page.push(text);
    bytes += length;
  }
  return [...pages, `[${page.join(',')}]`];
}

/** The sums of one dimension, by day. A day without a whole set of pages is absent. */
export async function readGroups(
  table: Table,
  account: AccountId,
  by: UsageDimension,
  range: { readonly from: string; readonly to: string },
): Promise<Map<string, GroupSums>> {
  const sets = await readSets(table, account, by, range);
  return new Map([...sets].map(([day, entries]) => [day, new Map(entries.map(groupOfEntry))]));
}

export async function readLate(
  table: Table,
  account: AccountId,
  range: { readonly from: string; readonly to: string },
): Promise<Map<string, readonly LateRefund[]>> {
  const sets = await readSets(table, account, 'late', range);
  return new Map([...sets].map(([day, entries]) => [day, entries.map(lateOfEntry)]));
}

/** By day. Days that a release before statements had summed are absent. */
export async function readMoves(
  table: Table,
  account: AccountId,
  range: { readonly from: string; readonly to: string },
): Promise<Map<string, readonly Movement[]>> {
  const sets = await readSets(table, account, 'moves', range);
  const moves = ([text]: Entry): Movement => JSON.parse(String(text)) as Movement;
  return new Map([...sets].map(([day, entries]) => [day, entries.map(moves)]));
}

function groupOfEntry([group, creations, failed, charged, refunded]: Entry): [string | null, UsageSum] {
  const sum = {
    creations: Number(creations),
    failed: Number(failed),
    chargedMicros: Number(charged),
    refundedMicros: Number(refunded),
  };
  return [textOf(group), sum];
}

function lateOfEntry([chargedOn, micros, key, model, user]: Entry): LateRefund {
  return {
    chargedOn: String(chargedOn),
    micros: Number(micros),
    key: textOf(key),
    model: textOf(model),
    user: textOf(user),
  };
}

function textOf(value: string | number | null | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

async function readSets(
  table: Table,
  account: AccountId,
  by: Dimension,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<Map<string, Entry[]>> {
  const query = {
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': keys.account(account).pk },
    range: { sort: 'sk', from: `USAGE#${by}#${from}`, to: `USAGE#${by}#${to}#~` },
  };
  const found = new Map<string, Item[]>();
  for await (const { Items: items = [] } of queryPages(table, query)) {
    for (const item of items) {
      const day = String(item['sk']).split('#')[2] ?? '';
      found.set(day, [...(found.get(day) ?? []), item]);
    }
  }
  return new Map(
    [...found].flatMap(([day, pages]): [string, Entry[]][] =>
      isWhole(pages) ? [[day, pages.flatMap(entriesOfPage)]] : [],
    ),
  );
}

function isWhole(pages: readonly Item[]): boolean {
  return pages.every((page) => page['pages'] === pages.length && page['form'] === form);
}

function entriesOfPage(page: Item): Entry[] {
  return JSON.parse(inflateRawSync(page['sums'] as Uint8Array).toString('utf8')) as Entry[];
}
