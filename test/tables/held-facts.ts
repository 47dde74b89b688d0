/** Facts about the slots in which requests of an account are held. */
import { expect } from 'vitest';
import { createHeldSlots } from '../../service/api/held-slots-store.ts';
import { heldKey } from '../../service/aws/dynamodb/table.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { accountId, now } from '../fixtures/records.ts';
import type { Facts } from './facts.ts';

const other = 'acc_other' as AccountId;

export const heldFacts: Facts = {
  'An account has as many slots at a door as its limit says, and no other account has fewer': async ({
    table,
  }) => {
    const held = createHeldSlots(drawing(table), 'images', 3);
    const claims = await Promise.all(
      Array.from({ length: 12 }, async () => held.claim(accountId, now + 60_000, now)),
    );
    const names = claims.flatMap((place) => place?.name ?? []);
    expect(names.toSorted()).toEqual(['p0', 'p1', 'p2']);
    expect(await held.claim(other, now + 60_000, now)).toBeDefined();
    const door = createHeldSlots(drawing(table), 'mcp', 3);
    expect(await door.claim(accountId, now + 60_000, now)).toBeDefined();
  },

  'A slot is free again when it is released or expires': async ({ table, item }) => {
    const held = createHeldSlots(drawing(table), 'events', 2);
    const claim = (until: number, at: number): ReturnType<typeof held.claim> =>
      held.claim(accountId, now + until, now + at);
    const first = await claim(20_000, 0);
    const second = await claim(10_000, 0);
    expect(new Set([first?.name, second?.name])).toEqual(new Set(['p0', 'p1']));
    expect(await claim(29_999, 9_999)).toBeUndefined();
    const third = await claim(30_000, 10_000);
    expect(third?.name).toBe(second?.name);
    // The second request ended long ago. Its release does not free the slot of the third one.
    if (second) await held.release(accountId, second);
    expect(await claim(30_000, 10_000)).toBeUndefined();
    if (first) await held.release(accountId, first);
    expect((await claim(30_000, 10_000))?.name).toBe(first?.name);
    expect(await item(heldKey(accountId, 'events'))).toMatchObject({
      expiresAtSeconds: Math.ceil((now + 30_000 + 86_400_000) / 1000),
    });
  },
};

/** The same table, whose random bytes are others each time. */
function drawing<Given extends object>(table: Given): Given & { randomBytes: (count: number) => Uint8Array } {
  return { ...table, randomBytes: (count) => new Uint8Array(count).map(() => (drawn += 1) % 251) };
}

let drawn = 0;
