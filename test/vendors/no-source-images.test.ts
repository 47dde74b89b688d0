/** A job without source images, for the adapters of all vendors. */
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../service/aws/clock.ts';
import { providers } from '../../service/catalog/providers.ts';
import { never, startAnsweringVendor } from './answering-vendor.ts';
import { everyVendor, jobsLike } from './vendor-talk.ts';

const vendor = await startAnsweringVendor();
afterAll(() => vendor.stop());
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
