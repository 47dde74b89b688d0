/**
 * Takes items that nobody reads any more out of the simulated table, because a long crowd would need more memory than
 * a machine has. Creations that are at rest and their ledger rows go to the archive, for the audit. Leases, polls,
 * logged deliveries and the counts of past minutes are dropped.
 */
import type { Item } from '../../../../local/dynamodb/attributes.ts';
import type { AwsAccount } from '../../aws/aws-account.ts';
import { type Change, type SimulatedTable, tableName } from '../../aws/simulated-table.ts';
import type { Archive } from './archive.ts';

export interface Forgetter {
  readonly onCommit: (changes: readonly Change[]) => void;
  /** Takes out what is old enough by now. */
  readonly sweep: () => void;
}

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

export function createForgetter({ now, table, account, archive, isAwaited }: ForgetterOptions): Forgetter {
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
    onCommit: (changes) => {
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
