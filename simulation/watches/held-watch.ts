/** The invariants of requests that are held: each has a place, and no account has more places than its share. */
import { mostHeldReads } from '../../core/limits.ts';
import type { Item } from '../../local/dynamodb/attributes.ts';
import { heldPlacesOf } from '../aws/deployed-service.ts';
import type { Change } from '../aws/simulated-table.ts';
import type { World } from '../world/simulated-world.ts';
import type { Accuse } from './money-books.ts';

export interface HeldWatch {
  readonly onCommit: (changes: readonly Change[]) => void;
  /** Receives each read of a creation, by the key of its item. */
  readonly onRead: (pk: string) => void;
}

/** A request without a place looks a few times at most, however often the tries of a call overtake each other. */
const mostLooks = 20;
const held = new Set(['openai', 'generate']);
const placesOf = (item: Item | undefined): string[] =>
  Object.keys(item ?? {}).filter((name) => /^p\d+$/.test(name));

export function createHeldWatch(world: World, accuse: Accuse): HeldWatch {
  const holders = new Set<string>();
  const looks = new Map<string, number>();
  const places = heldPlacesOf(world.dice);

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
        const limit = sk === 'HELD#events' ? mostHeldReads : places;
        const taken = placesOf(after).length;
        if (taken > limit) accuse('an account has its share of the places', `${pk} ${sk}: ${taken}`);
        if (writer !== undefined && taken >= placesOf(before).length) holders.add(writer);
      }
    },
    onRead: (pk) => {
      const { id = '', name = '' } = world.current() ?? {};
      if (!held.has(name) || holders.has(id)) return;
      const count = (looks.get(`${id} ${pk}`) ?? 0) + 1;
      looks.set(`${id} ${pk}`, count);
      if (count === mostLooks) accuse('a request without a place is answered at once', `${id} ${pk}`);
    },
  };
}
