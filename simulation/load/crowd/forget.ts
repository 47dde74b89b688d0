/**
 * Drops items that nobody reads any more, because a long crowd would need more memory than a machine has: leases and
 * polls of creations that have ended, logged deliveries, and the counts of past minutes. The books stay whole.
 */
import type { AwsAccount } from '../../aws/aws-account.ts';
import { tableName, type Change, type SimulatedTable } from '../../aws/simulated-table.ts';

export interface Forgetter {
  readonly onCommit: (changes: readonly Change[]) => void;
  /** Drops what is old enough by now. */
  readonly sweep: () => void;
}

/** Longer than a client polls on, and than an attempt of a webhook takes. */
const keptMillis = 150_000;

export function createForgetter(
  now: () => number,
  table: () => SimulatedTable,
  account: AwsAccount,
): Forgetter {
  const due: { readonly at: number; readonly pk: string; readonly sk: string }[] = [];
  let done = 0;
  const plan = (pk: string, sk: string): void => void due.push({ at: now() + keptMillis, pk, sk });
  return {
    onCommit: (changes) => {
      for (const { pk, sk, before, after } of changes) {
        if (sk === 'CREATION') {
          if (before?.['status']?.S === after?.['status']?.S || !isOver(after?.['status']?.S)) continue;
          plan(pk, 'LEASE');
          plan(pk, 'POLL');
        } else if (before === undefined && (sk.startsWith('DELIVERY#') || sk.startsWith('RATE#')))
          plan(pk, sk);
      }
    },
    sweep: () => {
      account.table()?.free(() => {
        for (let next = due[done]; next && next.at <= now(); next = due[done]) {
          done += 1;
          const Key = { pk: { S: next.pk }, sk: { S: next.sk } };
          if (table().get(next.pk, next.sk)) table().perform('DeleteItem', { TableName: tableName, Key });
        }
      });
      if (done < 100_000) return;
      due.splice(0, done);
      done = 0;
    },
  };
}

function isOver(status: string | undefined): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}
