/** The invariants of requests that are held: each has a place, and no account has more places than its share. */
import { heldShare, mostHeldReads } from '../../core/limits.ts';
import type { Item } from '../../local/dynamodb/attributes.ts';
import type { Change } from '../aws/simulated-table.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import type { Accuse } from './money-books.ts';

export interface HeldWatch {
  readonly onCommit: (changes: readonly Change[]) => void;
  /** Is told of each answer of a function that holds requests. */
  readonly onServed: (invocation: Invocation) => void;
}

/** No request without a fault takes longer than this before it waits. */
const atOnceMillis = 15_000;
const placesOf = (item: Item | undefined): string[] =>
  Object.keys(item ?? {}).filter((name) => /^p\d+$/.test(name));

export function createHeldWatch(world: World, accuse: Accuse): HeldWatch {
  const holders = new Set<string>();

  /** Only a place whose time is over is given to another request. */
  function isNobodys({ before, after }: Change): void {
    for (const name of placesOf(after)) {
      const [old, next] = [before?.[name]?.M, after?.[name]?.M];
      if (!old || old['holder']?.S === next?.['holder']?.S) continue;
      const left = Number(old['until']?.N) - world.time.now();
      if (left > world.clocks.largestSkew()) accuse('a place holds one request', `${name}: ${left} ms left`);
    }
  }

  return {
    onCommit: (changes) => {
      const writer = world.current()?.id;
      for (const change of changes) {
        const { sk, pk, before, after } = change;
        if (!sk.startsWith('HELD#')) continue;
        isNobodys(change);
        const limit = sk === 'HELD#events' ? mostHeldReads : heldShare.least;
        const taken = placesOf(after).length;
        if (taken > limit) accuse('an account has its share of the places', `${pk} ${sk}: ${taken}`);
        if (writer !== undefined && taken >= placesOf(before).length) holders.add(writer);
      }
    },
    onServed: ({ id, name, startedAt, faulted }) => {
      const lasted = world.time.now() - startedAt;
      if (lasted > atOnceMillis && !faulted && !holders.has(id))
        accuse('a request without a place is answered at once', `${name} ${id} after ${lasted} ms`);
    },
  };
}
