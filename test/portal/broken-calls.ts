/** Ways in which the table answers one call badly, or is asked by somebody else in between. */
import { AnswerLost, AwsError } from '../../local/aws/aws-error.ts';
import type { WholePortal } from './whole-portal.ts';

const writes = ['PutItem', 'UpdateItem', 'TransactWriteItems'];

/** Whether the call writes an item whose sort key begins so. */
function isWriteOf(sortKey: string, operation: string, input: unknown): boolean {
  return writes.includes(operation) && JSON.stringify(input).includes(`"sk":{"S":"${sortKey}`);
}

/** The next write of such an item takes effect, and its answer is lost. */
export function loseAnswerOf({ calls }: WholePortal, sortKey: string): void {
  let isLost = false;
  calls.around = (operation, input, run) => {
    const answer = run();
    if (isLost || !isWriteOf(sortKey, operation, input)) return answer;
    isLost = true;
    throw new AnswerLost();
  };
}

/** The next writes of such an item conflict with another transaction. */
export function conflictWith({ calls }: WholePortal, sortKey: string, times: number): void {
  let left = times;
  calls.around = (operation, input, run) => {
    if (left === 0 || !isWriteOf(sortKey, operation, input)) return run();
    left -= 1;
    throw new AwsError('TransactionConflictException', 'another transaction holds the item');
  };
}

/**
 * Sends the second request at the moment at which the first one has read everything and is about to write such an
 * item. Resolves with both answers.
 */
export async function inBetween<Answer>(
  { calls }: WholePortal,
  sortKey: string,
  first: () => Promise<Answer>,
  second: () => Promise<Answer>,
): Promise<readonly [Answer, Answer]> {
  const other: Answer[] = [];
  calls.around = async (operation, input, run) => {
    if (!isWriteOf(sortKey, operation, input)) return run();
    calls.around = (_operation, _input, ordinary) => ordinary();
    other.push(await second());
    return run();
  };
  const one = await first();
  const [two] = other;
  if (two === undefined) throw new Error('the first request wrote no such item');
  return [one, two];
}
