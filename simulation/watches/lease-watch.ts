/**
 * The invariant of leases: once a later renderer has taken a creation up, no earlier renderer writes its
 * attempts.
 */
import type { Change } from '../aws/simulated-table.ts';
import type { World } from '../world/simulated-world.ts';
import { textOf, type Accuse } from './money-books.ts';

export interface LeaseWatch {
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
