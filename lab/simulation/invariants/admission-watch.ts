/**
 * The invariants of admission: a closed service charges no request that came after its close, the open creations
 * stay near the capacity of the service, and the counters of open creations lose nothing when nothing fails.
 */
import { openCountKeys } from '../../../service/aws/dynamodb/table.ts';
import { type CreationStatus, isTerminal } from '../../../service/creations/creation.ts';
import type { Change, SimulatedTable } from '../aws/simulated-table.ts';
import type { World } from '../world/simulated-world.ts';
import { type Accuse, textOf } from './money-books.ts';

export interface AdmissionWatch {
  readonly onCommit: (changes: readonly Change[]) => void;
  /** A request was refused because the service had no room. */
  readonly onRefusedForRoom: () => void;
  readonly atRest: (table: SimulatedTable) => void;
}

/** The part of the capacity by which the open creations may differ from it. */
const tolerance = 0.1;

/**
 * @param capacity the setting of the service
 * @param world absent in a run of load, where only the open creations are compared with the capacity
 */
export function createAdmissionWatch(capacity: number, accuse: Accuse, world?: World): AdmissionWatch {
  const open = new Set<string>();
  let closedAt: number | undefined;

  function switched({ after }: Change): void {
    const isClosed = after?.['closed'] !== undefined;
    if (!isClosed) closedAt = undefined;
    else closedAt ??= world?.time.now();
  }

  function accepted(id: string): void {
    open.add(id);
    if (open.size > capacity * (1 + tolerance))
      accuse('the open creations stay near the capacity', `${open.size} of ${capacity} are open`);
    const startedAt = world?.current()?.startedAt;
    if (closedAt !== undefined && startedAt !== undefined && startedAt > closedAt)
      accuse(
        'a closed service charges nothing',
        `${id}, for a request ${startedAt - closedAt} ms after the close`,
      );
  }

  return {
    onCommit: (changes) => {
      for (const change of changes) {
        const { before, after, pk, sk } = change;
        if (sk === 'SERVICE' && pk === 'SERVICE') switched(change);
        if (sk !== 'CREATION' || !after) continue;
        if (!before) accepted(pk);
        else if (isTerminal(textOf(after, 'status') as CreationStatus)) open.delete(pk);
      }
    },
    onRefusedForRoom: () => {
      if (open.size < capacity * (1 - tolerance))
        accuse('nobody is refused while there is room', `${open.size} of ${capacity} are open`);
    },
    atRest: (table) => {
      // A fault may have lost a change, and a function that died could not count its own.
      if (world && (world.injected.length > 0 || world.lastFaultAt > 0)) return;
      const counters = openCountKeys.map(({ pk, sk }) => Number(table.get(pk, sk)?.['running']?.N ?? 0));
      const sum = counters.reduce((one, other) => one + other, 0);
      if (sum !== open.size)
        accuse('every end is counted as its start was', `${sum} are counted, and ${open.size} are open`);
    },
  };
}
