/**
 * DynamoDB at the far end of a call: the table in memory, and the faults that only the table itself can show.
 */
import { Ongoing } from '../world/effects.ts';
import type { FaultKind } from '../world/faults.ts';
import type { World } from '../world/simulated-world.ts';
import { maxLagMillis, type SimulatedTable } from './simulated-table.ts';
import { asTableRequest, type Input } from './table-request.ts';

export function answerOfDynamodb(
  table: SimulatedTable,
  world: World,
  operation: string,
  input: Input,
  fault: FaultKind | undefined,
): object | Ongoing<object> {
  if (operation === 'TransactWriteItems') return new Ongoing(table.begin(input));
  if (fault === 'unprocessed' || fault === 'all_unprocessed') return firstKeyOnly(table, operation, input);
  return table.perform(operation, input, fault === 'lag' ? world.dice.between('lag', 500, maxLagMillis) : 0);
}

/** Answers the first key of a batch and leaves the others unprocessed. */
function firstKeyOnly(table: SimulatedTable, operation: string, input: Input): object {
  const wanted = asTableRequest(input).RequestItems ?? {};
  const [[name, request] = ['', { Keys: [] }]] = Object.entries(wanted);
  const kept = request.Keys.slice(0, 1);
  const answered = table.perform(operation, { RequestItems: { [name]: { Keys: kept } } });
  return {
    ...answered,
    UnprocessedKeys: { [name]: { ...request, Keys: request.Keys.slice(kept.length) } },
  };
}
