/** The invariant of recovery: when the last execution of an open creation dies, its next one starts at once. */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { Payload } from '../../../service/creations/payload.ts';
import { executionName, parseCreationId } from '../../../service/values/ids.ts';
import type { Service } from '../aws/deployed-service.ts';
import type { Change } from '../aws/simulated-table.ts';
import type { World } from '../world/simulated-world.ts';
import { type Accuse, textOf } from './money-books.ts';

export interface RecoveryWatch {
  /** Called when an execution ended without success. */
  readonly onDied: (name: string, startedWith: Payload) => void;
  /** Checks every death that is long enough ago. */
  readonly look: () => void;
}

/** The event comes within 3 s. A run of the reconciler makes a few calls, and the SDK repeats slow ones. */
const atOnceMillis = 15_000;
/** Later deaths of the same creation wait for the schedule (service/reconcile/reconcile.ts). */
const mostAtOnce = 2;

/** Creates the watch over the executions of one world. */
export function createRecoveryWatch(
  world: World,
  service: () => Service | undefined,
  accuse: Accuse,
): RecoveryWatch {
  const died: { readonly pk: string; readonly executions: number; readonly at: number }[] = [];
  const itemOf = (pk: string): Item | undefined => service()?.table.get(pk, 'CREATION');
  const executionsOf = (item: Item | undefined): number => Number(item?.['executions']?.N);
  const isOpen = (item: Item | undefined): boolean => /^(queued|processing)$/.test(textOf(item, 'status'));

  return {
    onDied: (name, { creation_id }) => {
      const id = parseCreationId(creation_id);
      const pk = `CREATION#${creation_id}`;
      const item = itemOf(pk);
      if (id === undefined || !isOpen(item) || Number(item?.['recoveries']?.N) >= mostAtOnce) return;
      const executions = executionsOf(item);
      if (executionName(id, executions) === name) died.push({ pk, executions, at: world.time.now() });
    },
    look: () => {
      const now = world.time.now();
      const ripe = died.findIndex(({ at }) => at + atOnceMillis > now);
      for (const { pk, executions, at } of died.splice(0, ripe === -1 ? died.length : ripe)) {
        // A fault can break the run of the reconciler. A release may not understand what a newer one wrote.
        if (Math.max(world.lastFaultAt, service()?.releases.lastBehindAt() ?? 0) >= at) continue;
        const item = itemOf(pk);
        if (isOpen(item) && executionsOf(item) === executions)
          accuse('the next execution starts at once when the last one died', pk);
      }
    },
  };
}

interface LeaseWatch {
  readonly onCommit: (changes: readonly Change[]) => void;
}

/** Creates the watch over the leases of one world. */
export function createLeaseWatch(world: World, accuse: Accuse): LeaseWatch {
  /** The invocation that took each creation up last. */
  const renderers = new Map<string, string>();

  function isWrittenInTurn({ pk, before, after }: Change, writer: string): void {
    const isChanged = (name: string): boolean =>
      JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]);
    if (isChanged('fence')) renderers.set(pk, writer);
    // The end of a creation has a condition of its own, and the first end counts.
    else if (isChanged('attempts') && !isChanged('status') && renderers.get(pk) !== writer)
      accuse(
        'a renderer that lost its lease writes no attempts',
        `${writer} wrote to ${textOf(after, 'id')} after ${renderers.get(pk) ?? 'nobody'}`,
      );
  }

  return {
    onCommit: (changes) => {
      const writer = world.current()?.id;
      if (writer === undefined) return;
      for (const change of changes)
        if (change.sk === 'CREATION' && change.before) isWrittenInTurn(change, writer);
    },
  };
}
