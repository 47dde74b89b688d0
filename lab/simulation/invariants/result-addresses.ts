/**
 * The invariants of addresses of results: an address in an answer opens its object when the client gets the answer, a
 * signed one no longer than the account has chosen, and the results of an account with signed addresses have no other.
 */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import { signedPrefix } from '../../../service/contract/limits.ts';
import { thumbnailKey } from '../../../service/creations/thumbnails.ts';
import type { Service } from '../aws/deployed-service.ts';
import { addressesIn, opensAt, type ResultAddress } from '../aws/result-keys.ts';
import type { Change } from '../aws/simulated-table.ts';
import type { World } from '../world/simulated-world.ts';
import { type Accuse, textOf } from './money-books.ts';

/** CloudFront's clock, and the client's, may be wrong by so much. */
const skewMillis = 60_000;
/** From the first attempt of a webhook to the last: 60, 120, 240 and 480 s, and the time of the attempts. Faults make it longer. */
const roundMillis = 1_200_000;

export function createAddressInvariants(world: World, service: () => Service | undefined, accuse: Accuse) {
  /** The creation of each object that has an address. */
  const owners = new Map<string, Item>();

  function isAsChosen(creation: Item): void {
    const account = service()?.table.get(`ACCOUNT#${textOf(creation, 'accountId')}`, 'ACCOUNT');
    const chosen = textOf(account, 'results') === 'signed' ? account?.['resultsMinutes']?.N : undefined;
    if (creation['signedMinutes']?.N !== chosen)
      accuse('addresses are signed as the account has chosen', textOf(creation, 'id'));
  }

  function isGoodUntil(address: ResultAddress, agoMillis: number): void {
    const { key, query } = address;
    const owner = owners.get(key);
    if (!owner) {
      accuse('an address names a result', key);
      return;
    }
    const minutes = Number(owner['signedMinutes']?.N ?? 0);
    if (minutes === 0) {
      if (query !== '') accuse('only results of accounts that chose it have signed addresses', key);
      return;
    }
    const now = world.time.now();
    const slack = world.clocks.largestSkew() + 1_000;
    const last = now + minutes * 60_000 + skewMillis + slack;
    if (opensAt(address, last)) accuse('a signed address ends in time', `${textOf(owner, 'id')} ${query}`);
    if (!opensAt(address, now - agoMillis))
      accuse('an address in an answer opens its result', `${textOf(owner, 'id')} ${query}`);
  }

  return {
    onCommit: (changes: readonly Change[]) => {
      for (const { sk, before, after } of changes) {
        if (sk === 'CREATION' && !before && after) isAsChosen(after);
        if (sk !== 'CREATION' || !after?.['results']) continue;
        for (const { M: image } of after['results'].L ?? []) {
          const key = image?.['key']?.S ?? '';
          for (const one of [key, thumbnailKey(key, 'small'), thumbnailKey(key, 'large')])
            owners.set(one, after);
          if ((after['signedMinutes'] !== undefined) !== key.startsWith(signedPrefix))
            accuse('a result with signed addresses lies where they are asked for', key);
        }
      }
    },
    onServed: (text: string) => {
      for (const address of addressesIn(text)) isGoodUntil(address, 0);
    },
    /** The first attempt makes the body, and the later ones send the same bytes. */
    onPost: ({ body }: { readonly body: string }) => {
      const agoMillis = world.injected.length > 0 ? Infinity : roundMillis;
      for (const address of addressesIn(body)) isGoodUntil(address, agoMillis);
    },
  };
}
