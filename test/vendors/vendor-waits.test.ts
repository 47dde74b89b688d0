/**
 * The waits between the polls of each vendor's job, from the tables of the adapters.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { type Reply, startFakeVendor } from '../../lab/vendors/fakes/fake-vendor.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { createBfl } from '../../service/vendors/bfl.ts';
import { createFal } from '../../service/vendors/fal/provider.ts';
import type { ImageProvider, ProviderCredentials } from '../../service/vendors/provider.ts';
import { createReplicate } from '../../service/vendors/replicate/provider.ts';
import { jobsLike } from './vendor-talk.ts';

const credentials: ProviderCredentials = {
  read: async () => Promise.resolve('a-key-of-the-test'),
  forget: () => undefined,
};
let reply: Reply = { status: 200 };
const vendor = await startFakeVendor(() => reply);
afterAll(() => vendor.stop());
const settings = { name: 'vendor', credentials, clock: systemClock, baseUrl: vendor.url };
const job = jobsLike({ providerModel: 'model' })();

type Row = readonly [
  vendor: string,
  provider: ImageProvider,
  needed: string,
  working: object,
  waits: readonly number[],
];
const rows: readonly Row[] = [
  [
    'Black Forest Labs',
    createBfl(settings),
    `${vendor.url}/job`,
    { status: 'Pending' },
    [500, 500, 1_000, 1_000, 1_000, 1_500, 1_500, 2_000, 2_000, 3_000, 3_000],
  ],
  [
    'fal',
    createFal(settings),
    [1, 2, 3].map((part) => `${vendor.url}/${part}`).join(' '),
    { status: 'IN_PROGRESS' },
    [500, 500, 1_000, 1_000, 1_500, 1_500, 2_000, 2_000, 3_000, 3_000, 4_000, 4_000],
  ],
  [
    'Replicate',
    createReplicate(settings),
    'job',
    { status: 'processing' },
    [1_000, 1_000, 1_000, 1_500, 1_500, 2_000, 2_000, 3_000, 3_000, 4_000, 4_000],
  ],
];

describe('A job that has not ended', () => {
  it.each(rows)('A job at %s is polled after these waits', async (_vendor, provider, needed, body, waits) => {
    reply = { status: 200, body };
    const after: unknown[] = [];
    for (const place of waits.keys()) {
      // The id holds the number of polls so far.
      after.push(await provider.poll?.(`${place - 1} ${needed}`, job, new AbortController().signal));
    }
    expect(after).toMatchObject(waits.map((pollAfterMillis) => ({ kind: 'pending', pollAfterMillis })));
  });
});
