/**
 * The capacity that an operation consumes, as ReturnConsumedCapacity reports it.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
import type { Item } from '../attributes.ts';
import { bytesOfReadUnit, bytesOfWriteUnit, invalid } from '../refusals.ts';
import type { Change, IndexChange } from '../table.ts';
import { type Input, textOf } from '../validation/requests.ts';
import { sizeOfItem } from '../values.ts';

/** What ReturnConsumedCapacity may be. */
export type CapacityReport = 'NONE' | 'TOTAL' | 'INDEXES';

/** The units that one table and its indexes have given. */
export interface ConsumedCapacity {
  readonly TableName: string;
  readonly CapacityUnits: number;
  readonly Table?: { readonly CapacityUnits: number };
  readonly GlobalSecondaryIndexes?: Readonly<Record<string, { readonly CapacityUnits: number }>>;
}

export function capacityReport(input: Input): CapacityReport {
  const report = textOf(input, 'ReturnConsumedCapacity') ?? 'NONE';
  if (report === 'NONE' || report === 'TOTAL' || report === 'INDEXES') return report;
  throw invalid(
    `1 validation error detected: Value '${report}' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]`,
  );
}

/** The report of one operation on one table, as a member of its answer. */
export function consumed(
  report: CapacityReport,
  TableName: string,
  table: number,
  indexes: Readonly<Record<string, number>> = {},
): { readonly ConsumedCapacity?: ConsumedCapacity } {
  if (report === 'NONE') return {};
  const CapacityUnits = Object.values(indexes).reduce((sum, units) => sum + units, table);
  if (report === 'TOTAL') return { ConsumedCapacity: { TableName, CapacityUnits } };
  const used = Object.entries(indexes).filter(([, units]) => units > 0);
  return {
    ConsumedCapacity: {
      TableName,
      CapacityUnits,
      Table: { CapacityUnits: table },
      ...(used.length > 0 && {
        GlobalSecondaryIndexes: Object.fromEntries(
          used.map(([name, units]) => [name, { CapacityUnits: units }]),
        ),
      }),
    },
  };
}

/** The read units for a number of bytes. An eventually consistent read costs half. */
export function readUnits(bytes: number, isConsistent: boolean): number {
  return Math.max(1, Math.ceil(bytes / bytesOfReadUnit)) * (isConsistent ? 1 : 0.5);
}

/** The units of writing an item. The larger of the old and the new item counts. */
export function writeUnits({ before, after }: Pick<Change, 'before' | 'after'>): number {
  return Math.max(unitsOf(before), unitsOf(after), 1);
}

/** The units of the writes of each index of a table, in the order of its indexes. */
export function indexWriteUnits(
  { table }: Change,
  changes: readonly IndexChange[],
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    [...table.indexes.keys()].map((name, position) => {
      const { removed, added } = changes[position] ?? {};
      return [name, unitsOf(removed) + unitsOf(added)];
    }),
  );
}

function unitsOf(item: Item | undefined): number {
  return item === undefined ? 0 : Math.ceil(sizeOfItem(item) / bytesOfWriteUnit);
}
