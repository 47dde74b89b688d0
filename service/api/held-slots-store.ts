/** The slots for held requests of an account at a door: one item, with an attribute for each taken slot. */
import { tryUpdate, updateIf } from '../aws/dynamodb/conditional.ts';
import { type Door, heldKey, type Item, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import { Overloaded } from '../values/errors.ts';
import type { AccountId } from '../values/ids.ts';

/** Also free for us when an earlier try of the same call took the slot and its answer was lost. */
const isFree = 'attribute_not_exists(#slot) OR #slot.#until <= :now OR #slot.holder = :holder';
const isOurs = '#slot.holder = :holder';
const keptMillis = 86_400_000;
/** Each failed try means that another request has just taken the slot. */
const mostTries = 8;

/** @param limit how many slots an account has */
export function createHeldSlots(table: Table, door: Door, limit: number) {
  const names = Array.from({ length: limit }, (_, index) => `p${index}`);
  return {
    door,
    limit,
    /** Undefined: the account has no free slot. Throws Overloaded when the table stayed busy. */
    claim: async (
      account: AccountId,
      untilMillis: number,
      nowMillis: number,
    ): Promise<HeldSlot | undefined> => {
      const holder = Buffer.from(table.randomBytes(12)).toString('base64url');
      let free = names;
      for (let tries = 1; tries <= mostTries; tries += 1) {
        const name = free[numberOf(table.randomBytes(2)) % free.length];
        if (name === undefined) return undefined;
        const outcome = await tryUpdate(table, heldKey(account, door), {
          UpdateExpression: 'SET #slot = :slot, #ttl = :ttl',
          ConditionExpression: isFree,
          ExpressionAttributeNames: { '#slot': name, '#until': 'until', '#ttl': ttlAttribute },
          ExpressionAttributeValues: {
            ':slot': { holder, until: untilMillis },
            ':holder': holder,
            ':now': nowMillis,
            ':ttl': Math.ceil((untilMillis + keptMillis) / 1000),
          },
        });
        if (outcome.kind === 'written') return { name, holder };
        if (outcome.kind === 'busy') throw new Overloaded('the places of the account stayed busy');
        const { item = {} } = outcome;
        free = names.filter((one) => endOf(item, one) <= nowMillis);
      }
      return undefined;
    },
    release: async (account: AccountId, { name, holder }: HeldSlot) => {
      await updateIf(table, heldKey(account, door), {
        UpdateExpression: 'REMOVE #slot',
        ConditionExpression: isOurs,
        ExpressionAttributeNames: { '#slot': name },
        ExpressionAttributeValues: { ':holder': holder },
      });
    },
  };
}

/** When the slot is free again. 0: the slot is free. */
function endOf(item: Item, name: string): number {
  return (item[name] as { readonly until: number } | undefined)?.until ?? 0;
}

function numberOf([high = 0, low = 0]: Uint8Array): number {
  return 256 * high + low;
}

// The slots in which requests of an account are held.

/** The slots of each account at one door. */
export type HeldSlots = ReturnType<typeof createHeldSlots>;

/** The right to hold one request. It expires, so that a killed function does not keep the slot. */
export interface HeldSlot {
  readonly name: string;
  readonly holder: string;
}
