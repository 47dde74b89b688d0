/** The row that an erasure leaves in the log of the operator's actions: who was erased by id, and no content. */
import { createActionLog } from '../../service/operated/action-store.ts';
import type { PersonId } from '../../service/values/ids.ts';
import type { OperatorServices } from '../services.ts';

/** Runs the erasure between the two writes of its row. A row that stays 'begun' names one that was cut off. */
export async function noted<Result>(
  action: 'eraseAccount' | 'erasePerson',
  target: string,
  { table, clock, randomBytes }: Pick<OperatorServices, 'table' | 'clock' | 'randomBytes'>,
  run: () => Promise<Result>,
): Promise<Result> {
  const log = createActionLog(table);
  const at = new Date(clock.now()).toISOString();
  const row = {
    scope: 'SERVICE',
    id: `${at}#${Buffer.from(randomBytes(6)).toString('base64url')}`,
    at,
    personId: 'operator' as PersonId,
    email: 'operator',
    action,
    target,
    outcome: 'begun',
  } as const;
  await log.begin(row);
  const result = await run();
  await log.end(row, { outcome: 'done', note: JSON.stringify(result) });
  return result;
}
