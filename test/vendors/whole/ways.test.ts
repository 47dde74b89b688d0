/** Every way in which a vendor can fail, for every adapter: a row of its table, a reason why not, or a test here. */
import { afterAll, describe, expect, it } from 'vitest';
import { readCatalog } from '../../../admin/catalog/catalog-files.ts';
import { type Way, waysToFail } from '../../../lab/vendors/fakes/facts.ts';
import { fleetFakes, fleetNames, rowsOf } from '../../../lab/vendors/fleet.ts';
import { adapterAt, jobFor } from '../adapters.ts';
import { startAnsweringVendor } from '../answering-vendor.ts';
import { closedUrl } from '../vendor-talk.ts';

const allWays = Object.keys(waysToFail) as Way[];
const everyWay = fleetNames.flatMap((vendor) =>
  allWays.map((way) => ({ vendor, way, shown: fleetFakes[vendor].ways[way] })),
);

describe('the ways in which a vendor can fail', () => {
  it.each(everyWay)('$vendor shows "$way" by a row, or says why it cannot', ({ vendor, way, shown }) => {
    if (typeof shown === 'object') {
      expect(shown.cannot).toMatch(/^\w.{15,}\.$/);
      return;
    }
    const row = rowsOf(vendor).find((one) => one.row === shown);
    expect(row, `the table of ${vendor} has no row "${shown}"`).toBeDefined();
    expect(waysToFail[way]).toContain(row?.ends);
  });

  it('Every vendor that is sold is in the table', () => {
    const sold = readCatalog().models.flatMap(({ routes }) => routes.map(({ provider }) => provider));
    const outside = [...new Set(sold)].filter((name) => !name.startsWith('sandbox'));
    expect(fleetNames).toEqual(expect.arrayContaining(outside));
  });
});

const hanging = await startAnsweringVendor();
hanging.answerWith({ status: 'hang' });
const refusing = await startAnsweringVendor();
refusing.answerWith({ status: 401 });
const closed = await closedUrl();
afterAll(async () => Promise.all([hanging.stop(), refusing.stop()]));

describe('every adapter', () => {
  it.each(fleetNames)('%s: a vendor at which nobody listens is unavailable', async (name) => {
    const answer = await (
      await adapterAt(name, closed, 'key')
    ).submit(jobFor(name), new AbortController().signal);
    expect(answer).toMatchObject({ kind: 'refused', reason: 'unavailable' });
  });

  it.each(fleetNames)('%s: a vendor that hangs is let go when the time is over', async (name) => {
    await expect(
      (await adapterAt(name, hanging.url, 'key')).submit(jobFor(name), AbortSignal.timeout(60)),
    ).rejects.toThrow();
  });

  it.each(fleetNames.filter((name) => name !== 'bedrock'))('%s sends nothing without a key', async (name) => {
    const before = hanging.received.length;
    const adapter = await adapterAt(name, hanging.url, undefined);
    const answer = await adapter.submit(jobFor(name), AbortSignal.timeout(1_000));
    expect(answer).toMatchObject({ kind: 'refused', reason: 'credentials' });
    expect(hanging.received).toHaveLength(before);
  });

  it.each(fleetNames.filter((name) => fleetFakes[name].key !== undefined))(
    '%s: an order whose key was replaced meanwhile is rendered with the new key',
    async (name) => {
      const { key } = fleetFakes[name];
      const fake = await fleetFakes[name].start();
      let kept: string | undefined = 'a-replaced-key';
      const adapter = await adapterAt(name, fake.url, {
        read: async () => Promise.resolve(kept),
        forget: () => (kept = key),
      });
      const answer = await adapter.submit(jobFor(name), new AbortController().signal);
      await fake.stop();
      expect(answer.kind).not.toBe('refused');
    },
  );

  it.each(fleetNames.filter((name) => name !== 'bedrock'))(
    '%s: an order whose key is refused and was not replaced is sent once',
    async (name) => {
      const before = refusing.received.length;
      const adapter = await adapterAt(name, refusing.url, 'key');
      const answer = await adapter.submit(jobFor(name), new AbortController().signal);
      expect(answer).toMatchObject({ kind: 'refused', reason: 'credentials' });
      expect(refusing.received).toHaveLength(before + 1);
    },
  );

  it.each(fleetNames)('%s: creating the adapter asks nobody', async (name) => {
    const before = hanging.received.length;
    await adapterAt(name, hanging.url, 'key');
    expect(hanging.received).toHaveLength(before);
  });
});
