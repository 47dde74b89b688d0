/** The table of the simulation for one test, with its write units by the table of prices of DynamoDB. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { writeUnits } from '../../lab/cost/meter.ts';
import { createDirectClient } from '../../lab/simulation/aws/http-exchange.ts';
import { leanTableClient } from '../../lab/simulation/load/fast/fast-clients.ts';
import type { Input } from '../../lab/simulation/aws/table-request.ts';
import { createSimulatedTable } from '../../lab/simulation/aws/simulated-table.ts';
import type { Item } from '../../local/dynamodb/attributes.ts';
import { sizeOfItem } from '../../local/dynamodb/values.ts';
import { fakeClock, type FakeClock } from './fakes.ts';

/**
 * @param answer what the table does instead of an answer
 * @param isLean without the SDK, which takes a millisecond for a call
 */
export function createMeteredTable(answer?: () => Promise<never>, isLean = false) {
  const clock: FakeClock = fakeClock();
  let [units, largest] = [0, 0];
  const table = createSimulatedTable({
    now: () => clock.now(),
    remembers: false,
    onCommit: (changes) => {
      for (const change of changes) {
        units += writeUnits(change, false);
        largest = Math.max(largest, sizeOfItem(change.after ?? {}));
      }
    },
  });
  const perform = (operation: string, input: Input): object =>
    answer ? answer() : table.perform(operation, input);
  const client: DynamoDBDocumentClient = isLean
    ? leanTableClient((operation, input) => Promise.resolve(perform(operation, input)))
    : createDirectClient(perform);
  const items = (): Item[] => [...table.all()];
  return {
    clock,
    client,
    /** All items, in the order of their keys. */
    rows: (): Record<string, unknown>[] =>
      items()
        .map((item) => unmarshall(item as Parameters<typeof unmarshall>[0]))
        .sort((a, b) => (`${a['pk']} ${a['sk']}` < `${b['pk']} ${b['sk']}` ? -1 : 1)),
    /** Everything that the table holds, as one text. */
    text: (): string => JSON.stringify(items()),
    units: () => units,
    /** The bytes of the largest item that was written. */
    largest: () => largest,
  };
}
