/**
 * What a vendor sends is what is stored and served, byte for byte, content credentials included: for every
 * vendor, in every format that its model offers.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { fakes, vendorNames } from '../../../lab/vendors/fakes/all-fakes.ts';
import { pictureOf } from '../../../lab/vendors/fakes/fake-vendor.ts';
import type { VendorName } from '../../../service/catalog/providers.ts';
import { type OutputFormat, outputFormats } from '../../../service/contract/request-fields.ts';
import { withManifest } from '../../fixtures/manifests.ts';
import type { Client } from '../../fixtures/service.ts';
import { settled, submit } from '../../whole/workflow/creations.ts';
import { startTestFleet, type TestFleet } from './fleet.ts';

interface Ran {
  readonly told: { readonly bytes: number; readonly content_credentials: string } | undefined;
  readonly served: Buffer;
}

let fleet: TestFleet;
const sent: Buffer[] = [];
const runs = new Map<VendorName, ReadonlyMap<OutputFormat, Ran>>();
beforeAll(async () => {
  fleet = await startTestFleet((format, width, height) => {
    const picture = withManifest(format, pictureOf(format, width, height));
    sent.push(picture);
    return picture;
  });
  // A creation mostly waits between two polls of its vendor, so all run at once.
  await Promise.all(vendorNames.map(async (vendor) => runs.set(vendor, await rendered(vendor))));
});
afterAll(() => fleet.end());

const modelList = z.object({
  data: z.array(z.object({ id: z.string(), output_formats: z.array(z.string()) })),
});
const shown = z.object({
  results: z.array(z.object({ url: z.string(), bytes: z.number(), content_credentials: z.string() })),
});

/** One image of this vendor alone in each format that its model offers. */
async function rendered(vendor: VendorName): Promise<ReadonlyMap<OutputFormat, Ran>> {
  const client = await fleet.clientOf(vendor);
  const { data } = modelList.parse((await fleet.service.send('/models', { key: client.key })).body);
  const offered = data.find(({ id }) => id === fakes[vendor].model)?.output_formats ?? [];
  const formats = outputFormats.filter((format) => offered.includes(format));
  return new Map(
    await Promise.all(formats.map(async (format) => [format, await run(vendor, client, format)] as const)),
  );
}

async function run(vendor: VendorName, { key }: Client, format: OutputFormat): Promise<Ran> {
  const { model } = fakes[vendor];
  const id = await submit(fleet.service, key, { model, prompt: 'a pier', output_format: format });
  await settled(fleet.service, id);
  const [told] = shown.parse((await fleet.service.send(`/creations/${id}`, { key })).body).results;
  const served = Buffer.from(await (await fetch(told?.url ?? '')).arrayBuffer());
  return { told, served };
}

describe('The image of a vendor', () => {
  it.each(vendorNames)('An image of %s has exactly the bytes that the vendor sent', (vendor) => {
    const ran = [...(runs.get(vendor) ?? [])];
    expect(ran.length).toBeGreaterThan(0);
    for (const [format, { told, served }] of ran) {
      expect(told, format).toMatchObject({ bytes: served.length, content_credentials: 'present' });
      expect(
        sent.some((picture) => picture.equals(served)),
        format,
      ).toBe(true);
    }
  });

  it('The vendors offer every format between them', () => {
    const offered = new Set([...runs.values()].flatMap((ran) => [...ran.keys()]));
    expect([...offered].sort()).toEqual([...outputFormats].sort());
  });
});
