/**
 * Takes items that are no longer read out of the table, because a long load would need more memory than a machine
 * has. Creations at rest and their ledger rows go to the archive, for the audit; leases, polls and counts are
 * dropped.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Item } from '../../../../local/dynamodb/attributes.ts';
import { auditAccounts, noProgress } from '../../../../service/audit/audit-accounts.ts';
import { createBooksReader } from '../../../../service/audit/books-reads.ts';
import type { Difference } from '../../../../service/audit/books.ts';
import type { Table } from '../../../../service/aws/dynamodb/table.ts';
import type { AwsAccount } from '../../aws/aws-account.ts';
import {
  type Change,
  createSimulatedTable,
  type SimulatedTable,
  tableName,
} from '../../aws/simulated-table.ts';
import { leanTableClient } from '../fast/fast-clients.ts';

export interface ForgetterOptions {
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly table: () => SimulatedTable;
  readonly account: AwsAccount;
  readonly archive: Archive;
  /** Whether a client still asks for this creation. */
  readonly isAwaited: (creationId: string) => boolean;
}

/** The counts of a minute are read for two minutes. The other items are read for some seconds only. */
const keptMillis = { counts: 150_000, others: 45_000 } as const;
/** Number of finished items that are dropped from the due list at once. */
const doneAtOnce = 100_000;

interface Due {
  readonly at: number;
  readonly pk: string;
  readonly sk: string;
}

export function createForgetter({ now, table, account, archive, isAwaited }: ForgetterOptions) {
  const counts = createQueue(now, keptMillis.counts);
  const others = createQueue(now, keptMillis.others);

  function remove(pk: string, sk: string): void {
    const Key = { pk: { S: pk }, sk: { S: sk } };
    table().perform('DeleteItem', { TableName: tableName, Key });
  }

  function isAtRest(creation: Item): boolean {
    return (
      isOver(creation['status']?.S) &&
      creation['openShard'] === undefined &&
      !isAwaited(creation['id']?.S ?? '')
    );
  }

  function moveCreation(due: Due, creation: Item): void {
    if (!isAtRest(creation)) {
      others.plan(due.pk, due.sk);
      return;
    }
    archive.add(creation['accountId']?.S ?? '', creation);
    for (const sk of ['CREATION', 'LEASE', 'POLL']) if (table().get(due.pk, sk)) remove(due.pk, sk);
  }

  function moveRow(due: Due, row: Item): void {
    const creation = table().get(`CREATION#${row['creationId']?.S ?? ''}`, 'CREATION');
    // A creation that is not there has been moved before.
    if (creation && !isAtRest(creation)) {
      others.plan(due.pk, due.sk);
      return;
    }
    archive.add(due.pk.slice('ACCOUNT#'.length), row);
    remove(due.pk, due.sk);
  }

  function takeOut(due: Due): void {
    const item = table().get(due.pk, due.sk);
    if (!item) return;
    if (due.sk === 'CREATION') moveCreation(due, item);
    else if (due.sk.startsWith('LEDGER#')) moveRow(due, item);
    else remove(due.pk, due.sk);
  }

  return {
    onCommit: (changes: readonly Change[]) => {
      for (const { pk, sk, before, after } of changes) {
        if (sk === 'CREATION') {
          if (!isOver(before?.['status']?.S) && isOver(after?.['status']?.S)) others.plan(pk, sk);
        } else if (before !== undefined) continue;
        else if (
          sk.startsWith('DELIVERY#') ||
          (sk.startsWith('LEDGER#') && after?.['creationId']?.S !== undefined)
        )
          others.plan(pk, sk);
        else if (sk.startsWith('RATE#')) counts.plan(pk, sk);
      }
    },
    /** Takes out what is old enough by now. */
    sweep: () => {
      account.table()?.free(() => {
        for (const queue of [counts, others]) for (const due of queue.due()) takeOut(due);
      });
    },
  };
}

/** Items in the order in which they become due. */
function createQueue(
  now: () => number,
  afterMillis: number,
): { readonly plan: (pk: string, sk: string) => void; readonly due: () => Iterable<Due> } {
  const all: Due[] = [];
  let done = 0;
  return {
    plan: (pk, sk) => void all.push({ at: now() + afterMillis, pk, sk }),
    due: function* () {
      for (let next = all[done]; next && next.at <= now(); next = all[done]) {
        done += 1;
        yield next;
      }
      if (done < doneAtOnce) return;
      all.splice(0, done);
      done = 0;
    },
  };
}

function isOver(status: string | undefined): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

interface Shelf {
  readonly packs: Buffer[];
  texts: string[];
  length: number;
}

export const shelfCount = 64;
/**
 * Number of characters that are packed together. The names of the attributes repeat, so large packs are
 * smaller.
 */
const packLength = 128 * 1024;
/**
 * The fastest level. It makes 290 bytes of the 2,413 of a creation, and the best level makes 237 in three
 * times the time.
 */
const level = 1;

export function createArchive() {
  const shelves = Array.from({ length: shelfCount }, (): Shelf => ({ packs: [], texts: [], length: 0 }));
  const shelfOf = (account: string): number => {
    let sum = 0;
    for (let index = 0; index < account.length; index += 1)
      sum = (sum * 31 + account.charCodeAt(index)) % 65_521;
    return sum % shelfCount;
  };
  return {
    /** All items of an account are on this shelf. */
    shelfOf,
    add: (account: string, item: Item) => {
      const shelf = shelves[shelfOf(account)];
      if (!shelf) return;
      const text = JSON.stringify(item);
      shelf.texts.push(text);
      shelf.length += text.length;
      if (shelf.length < packLength) return;
      shelf.packs.push(deflateRawSync(shelf.texts.join('\n'), { level }));
      shelf.texts = [];
      shelf.length = 0;
    },
    itemsOn: function* (number: number): Iterable<Item> {
      const { packs = [], texts = [] } = shelves[number] ?? {};
      for (const pack of packs)
        for (const text of inflateRawSync(pack).toString().split('\n')) yield JSON.parse(text) as Item;
      for (const text of texts) yield JSON.parse(text) as Item;
    },
  };
}

/**
 * Records that no longer change, packed. A creation and its ledger row take 14 KB in the simulated table, and
 * 0.3 KB here, so 600,000 of them fit into memory. The audit unpacks one shelf after the other.
 */
export type Archive = ReturnType<typeof createArchive>;

/** The operator's audit over the books of a load: what is in its table, and what is in its archive. */
export interface ArchiveAudit {
  readonly accounts: number;
  readonly creations: number;
  /** The items that came out of the archive. */
  readonly unpacked: number;
  readonly differences: readonly Difference[];
}

/** Audits the accounts of one shelf after the other, so that only a part of the books is unpacked at a time. */
export async function auditWithArchive(
  table: SimulatedTable,
  store: Table,
  archive: Archive,
): Promise<ArchiveAudit> {
  const left = Array.from({ length: shelfCount }, (): Item[] => []);
  for (const item of table.all()) {
    const account = accountOf(item);
    if (account !== undefined) left[archive.shelfOf(account)]?.push(item);
  }
  const sum = { accounts: 0, creations: 0, unpacked: 0, differences: [] as Difference[] };
  for (const [shelf, items] of left.entries()) {
    const books = createSimulatedTable({ now: () => store.clock.now(), remembers: false });
    const put = (item: Item): void => void books.perform('PutItem', { TableName: tableName, Item: item });
    items.forEach(put);
    for (const item of archive.itemsOn(shelf)) {
      put(item);
      sum.unpacked += 1;
    }
    const client = leanTableClient((operation, input) => Promise.resolve(books.perform(operation, input)));
    const { progress } = await auditAccounts(
      {
        books: createBooksReader({ ...store, client }),
        closings: { use: 'compared', read: () => Promise.resolve([]) },
        nowMillis: () => store.clock.now(),
        pause: () => Promise.resolve(),
        isTimeUp: () => false,
        onAccount: (audited) => sum.differences.push(...audited.differences),
      },
      noProgress,
    );
    sum.accounts += progress.accounts;
    sum.creations += progress.creations;
  }
  return sum;
}

function accountOf(item: Item): string | undefined {
  const pk = item['pk']?.S ?? '';
  if (pk.startsWith('ACCOUNT#')) return pk.slice('ACCOUNT#'.length);
  return item['sk']?.S === 'CREATION' ? item['accountId']?.S : undefined;
}
