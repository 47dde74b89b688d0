/** Facts about uploads: whose they are, how long they can be used, and how many may be unused. */
import { expect } from 'vitest';
import { keys } from '../../service/aws/dynamodb/table.ts';
import { uploadMillis } from '../../service/contract/limits.ts';
import { newUpload, type Upload } from '../../service/uploads/upload.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { accountId, now } from '../fixtures/records.ts';
import type { Facts, Stores } from './facts.ts';

const other = 'Acc0unt002' as AccountId;

/** The nth upload, announced at this time. */
function anUpload(number: number, at = now, owner = accountId): Upload {
  const random = (count: number): Uint8Array => new Uint8Array(count).fill(number);
  return newUpload({ accountId: owner, contentType: 'image/png', bytes: 7 }, at, random);
}

async function unused({ item }: Stores): Promise<readonly string[]> {
  const found = (await item(keys.unusedUploads(accountId)))?.['unused'];
  return found instanceof Set ? [...(found as Set<string>)].sort() : [];
}

export const uploadFacts: Facts = {
  'An upload can be used by its account alone, until its last millisecond': async ({ uploads }) => {
    const [one, two] = [anUpload(1), anUpload(2, now, other)];
    for (const upload of [one, two])
      expect(await uploads.create(upload, 5, now)).toEqual({ kind: 'created' });
    const ids = [one.id, two.id];
    expect(await uploads.usable(accountId, ids, one.expiresAt - 1)).toEqual([one]);
    expect(await uploads.usable(accountId, ids, one.expiresAt)).toEqual([]);
    expect(await uploads.usable(other, ids, now)).toEqual([two]);
    expect(one.expiresAt).toBe(now + uploadMillis);
  },

  'Of two hundred uploads at once exactly as many are created as the account may have unused': async (
    stores,
  ) => {
    const crowd = Array.from({ length: 200 }, (_, index) => anUpload(index));
    const outcomes = await Promise.all(crowd.map((upload) => stores.uploads.create(upload, 100, now)));
    const created = crowd.filter((_, index) => outcomes[index]?.kind === 'created');
    expect(created).toHaveLength(100);
    expect(await unused(stores)).toEqual(created.map(({ id }) => id).sort());
    expect(outcomes.filter(({ kind }) => kind !== 'created')).toEqual(
      Array.from({ length: 100 }, () => ({ kind: 'too_many_unused', current: 100 })),
    );
  },

  'A repeated creation of the same upload takes no second place, also when the first one took the last':
    async (stores) => {
      for (let times = 0; times < 2; times += 1)
        expect(await stores.uploads.create(anUpload(1), 1, now)).toEqual({ kind: 'created' });
      expect(await unused(stores)).toEqual([anUpload(1).id]);
      expect(await stores.uploads.create(anUpload(2), 1, now)).toEqual({
        kind: 'too_many_unused',
        current: 1,
      });
    },

  'Expired uploads free their slots when the slots are needed, and no earlier': async (stores) => {
    const later = now + uploadMillis;
    const [old, young, next, last] = [
      anUpload(1),
      anUpload(2, now + 1),
      anUpload(3, later),
      anUpload(4, later),
    ];
    await stores.uploads.create(old, 2, now);
    await stores.uploads.create(young, 2, now);
    expect(await stores.uploads.create(next, 2, later - 1)).toEqual({ kind: 'too_many_unused', current: 2 });
    expect(await stores.uploads.create(next, 2, later)).toEqual({ kind: 'created' });
    expect(await unused(stores)).toEqual([young.id, next.id].sort());
    expect(await stores.uploads.create(last, 2, later)).toEqual({ kind: 'too_many_unused', current: 2 });
  },

  'Many uploads at once that meet expired slots fill exactly those': async (stores) => {
    for (let number = 0; number < 10; number += 1) await stores.uploads.create(anUpload(number), 10, now);
    const later = now + uploadMillis;
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        stores.uploads.create(anUpload(100 + index, later), 10, later),
      ),
    );
    expect(outcomes.filter(({ kind }) => kind === 'created')).toHaveLength(10);
    expect(await unused(stores)).toHaveLength(10);
  },

  'An account that may have no upload gets none, and nothing is written': async (stores) => {
    expect(await stores.uploads.create(anUpload(1), 0, now)).toEqual({ kind: 'too_many_unused', current: 0 });
    expect(await stores.uploads.usable(accountId, [anUpload(1).id], now)).toEqual([]);
  },
};
