/** The waits between the polls of each vendor's job, from the tables of the adapters. */
import { afterAll, describe, expect, it } from 'vitest';
import { createBfl } from '../../service/vendors/bfl.ts';
import { createFal } from '../../service/vendors/fal/provider.ts';
import type { ImageProvider } from '../../service/vendors/provider.ts';
import { createReplicate } from '../../service/vendors/replicate/provider.ts';
import { startAnsweringVendor, never } from './answering-vendor.ts';
import { jobsLike, everyVendor } from './vendor-talk.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { providers } from '../../service/catalog/providers.ts';

const vendor = await startAnsweringVendor();
afterAll(() => vendor.stop());
const { settings } = vendor;
const modelJob = jobsLike({ providerModel: 'model' })();

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
    vendor.answerWith({ status: 200, body });
    const after: unknown[] = [];
    for (const place of waits.keys()) {
      // The id holds the number of polls so far.
      after.push(await provider.poll?.(`${place - 1} ${needed}`, modelJob, new AbortController().signal));
    }
    expect(after).toMatchObject(waits.map((pollAfterMillis) => ({ kind: 'pending', pollAfterMillis })));
  });
});

const vendors = await everyVendor({
  credentials: vendor.settings.credentials,
  clock: systemClock,
  baseUrls: Object.fromEntries(Object.keys(providers).map((name) => [name, vendor.url])),
  bedrockRegion: 'us-west-2',
});

describe('A job without source images', () => {
  it.each(vendors)('The adapter of $name reads no source images when the job has none', async (adapter) => {
    vendor.answerWith({ status: 429 });
    const before = vendor.received.length;
    const readSources = (): Promise<never> => Promise.reject(new Error('the images were read'));
    const job = jobsLike({ providerModel: 'model', outputFormat: 'jpeg', readSources })();
    expect(await adapter.submit(job, never)).toMatchObject({ kind: 'refused', reason: 'unavailable' });
    expect(vendor.received).toHaveLength(before + 1);
  });
});
