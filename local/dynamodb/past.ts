/** What the tables were, for RestoreTableToPointInTime. */
import { createHash } from 'node:crypto';
import { AwsError } from '../aws/aws-error.ts';
import type { Item } from './attributes.ts';
import { idIn, type Table } from './table.ts';
import { type Input, numberOf, requireTableName, textOf } from './validation/values.ts';

/**
 * The changes of a transaction reach a backup one after the other, so a restored table may have only some of the last
 * ones (developer guide, "Amazon DynamoDB Transactions: How it works"). Here each item lags by its own time.
 */
const longestLagMillis = 1_000;

interface Undo {
  readonly table: Table;
  readonly id: string;
  readonly before: Item | undefined;
  readonly millis: number;
}

export interface Restore {
  readonly from: string;
  readonly to: string;
  readonly atMillis: number;
}

/** @param keptMillis how far back a table can be restored; 0: point-in-time recovery is off */
export function createPast(keptMillis: number, now: () => number) {
  const begunAt = now();
  let undone: Undo[] = [];
  const earliest = (): number => Math.max(begunAt, now() - keptMillis);

  return {
    keep: (undo: Undo): void => {
      if (keptMillis === 0) return;
      undone.push(undo);
      if (undone.length % 10_000 === 0) undone = undone.filter(({ millis }) => millis >= earliest());
    },
    read: (input: Input): Restore => {
      const name = (member: string): string => requireTableName(textOf(input, member));
      if (keptMillis === 0)
        throw new AwsError(
          'PointInTimeRecoveryUnavailableException',
          'Point in time recovery is not enabled for table',
        );
      const seconds = numberOf(input, 'RestoreDateTime');
      const atMillis = input['UseLatestRestorableTime'] === true ? now() : (seconds ?? 0) * 1000;
      if (atMillis > now() || atMillis < earliest())
        throw new AwsError('InvalidRestoreTimeException', 'Restore time is out of range');
      return { from: name('SourceTableName'), to: name('TargetTableName'), atMillis };
    },
    /** The items of the table at that moment. */
    itemsAt: (table: Table, atMillis: number): Item[] => {
      const items = new Map([...table.items()].map((item) => [idIn(table, item), item] as const));
      for (const { table: of, id, before, millis } of undone.toReversed()) {
        if (of.definition.TableName !== table.definition.TableName || millis <= atMillis - lagOf(id))
          continue;
        if (before) items.set(id, before);
        else items.delete(id);
      }
      return [...items.values()];
    },
    describe: () => ({
      ContinuousBackupsDescription: {
        ContinuousBackupsStatus: 'ENABLED',
        PointInTimeRecoveryDescription:
          keptMillis === 0
            ? { PointInTimeRecoveryStatus: 'DISABLED' }
            : {
                PointInTimeRecoveryStatus: 'ENABLED',
                EarliestRestorableDateTime: earliest() / 1000,
                LatestRestorableDateTime: now() / 1000,
              },
      },
    }),
  };
}

function lagOf(id: string): number {
  return createHash('sha256').update(id).digest().readUInt16BE() % longestLagMillis;
}
