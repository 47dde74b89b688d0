/** What each provider does with the fields that only some vendors honour: its fake reads the request as it came. */
import { describe, expect, it } from 'vitest';
import { readCatalog } from '../../../admin/catalog/catalog-files.ts';
import { fakeBedrockIdentity, startFakeBedrock } from '../../../lab/vendors/fakes/bedrock/server.ts';
import { type Honoured, isOffered, type RareName, rareFields } from '../../../lab/vendors/fakes/facts.ts';
import { type FakeVendor, transparentOf } from '../../../lab/vendors/fakes/fake-vendor.ts';
import { fleetFakes, type FleetName, fleetNames } from '../../../lab/vendors/fleet.ts';
import { createBedrock } from '../../../service/vendors/bedrock.ts';
import { type RareField, unsentField } from '../../../service/vendors/provider.ts';
import { adapterAt, jobFor } from '../adapters.ts';

const every = fleetNames.flatMap((vendor) => rareFields.map((field) => ({ vendor, field })));
const is = (what: 'honoured' | 'refused') =>
  every.filter(
    ({ vendor, field }) => (fleetFakes[vendor].honours[field] === 'honoured') === (what === 'honoured'),
  );

const members: Readonly<Record<RareName, RareField>> = {
  negative_prompt: 'negativePrompt',
  quality: 'quality',
  background: 'background',
  mask_url: 'mask',
};
const values: Readonly<Record<RareName, string>> = {
  negative_prompt: 'no boats, said nobody',
  quality: 'low',
  background: 'transparent',
  mask_url: 'mask',
};

/** What a request with the field has in its body. */
function wordsOf(field: RareName, vendor: FleetName): string {
  if (field === 'mask_url') return vendor === 'comfyui' ? 'SetLatentNoiseMask' : 'name="mask"';
  // A workflow has the text in a node of its own.
  return field === 'negative_prompt' && vendor === 'comfyui'
    ? values[field]
    : `"${field}":"${values[field]}"`;
}

/** A source image, and its mask. */
const picture = {
  contentType: 'image/png' as const,
  width: 64,
  height: 64,
  bytes: transparentOf('png', 64, 64),
};

const routes = readCatalog().models.flatMap((model) => model.routes);
const offers = (vendor: FleetName, field: RareName): boolean =>
  routes.some((route) => route.provider === vendor && isOffered[field](route));

async function askedFor(
  vendor: FleetName,
  field: RareName,
): Promise<{ readonly answer: string; readonly fake: FakeVendor; readonly unsent: string | undefined }> {
  const fake = await (vendor === 'bedrock' ? startFakeBedrock() : fleetFakes[vendor].start());
  try {
    const adapter =
      vendor === 'bedrock'
        ? createBedrock({
            name: vendor,
            region: 'us-west-2',
            endpoint: fake.url,
            credentials: fakeBedrockIdentity,
          })
        : await adapterAt(vendor, fake.url, fleetFakes[vendor].key ?? 'never asked for');
    const offering = routes.find((route) => route.provider === vendor && isOffered[field](route));
    const job = {
      ...jobFor(vendor),
      ...(offering && { providerModel: offering.provider_model }),
      ...(field === 'background' && { outputFormat: 'png' as const }),
      ...(field === 'mask_url' && {
        sourceCount: 1,
        readSources: () => Promise.resolve([picture]),
        readMask: () => Promise.resolve(picture),
      }),
      ...(field !== 'mask_url' && { [members[field]]: values[field] }),
    };
    const unsent = unsentField({ ...job, ...(field === 'mask_url' && { mask: 'mask' }) }, adapter);
    const answer = unsent ? 'unsent' : (await adapter.submit(job, AbortSignal.timeout(10_000))).kind;
    return { answer, fake, unsent };
  } finally {
    await fake.stop();
  }
}

describe('the fields that only some vendors honour', () => {
  it.each(is('honoured'))('$vendor is sent $field, and takes it', async ({ vendor, field }) => {
    const { answer, fake } = await askedFor(vendor, field);
    expect(['rendered', 'pending']).toContain(answer);
    expect(fake.received.filter(({ body }) => body.includes(wordsOf(field, vendor)))).toHaveLength(1);
  });

  it.each(is('refused'))('$vendor is never asked for $field, and says why', async ({ vendor, field }) => {
    const why: Honoured = fleetFakes[vendor].honours[field];
    expect(typeof why === 'object' ? why.refused : '').toMatch(/^[\w"].{15,}\.$/);
    expect(offers(vendor, field)).toBe(false);
    const { unsent, fake } = await askedFor(vendor, field);
    expect(unsent).toBe(members[field]);
    expect(fake.received).toEqual([]);
  });

  it('A vendor that honours a field and is sold offers it', () => {
    const sold = is('honoured').filter(({ vendor }) => routes.some(({ provider }) => provider === vendor));
    expect(sold.filter(({ vendor, field }) => !offers(vendor, field))).toEqual([]);
    expect(sold.length).toBeGreaterThan(0);
  });
});
