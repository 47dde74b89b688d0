/** The same prompt through every vendor's fake. The milliseconds are ours and the fake's: no vendor is called. */
import type { Catalog } from '../../core/catalog.ts';
import { fromUsd, toUsd, asMicros } from '../../core/money.ts';
import { costOf, type ProviderCosts } from '../../core/provider-costs.ts';
import models from '../../catalog/models.json' with { type: 'json' };
import costs from '../../catalog/provider-costs.json' with { type: 'json' };
import { fakes, type VendorName } from '../../tools/vendors/fakes/all-fakes.ts';
import { settled, submit } from '../workflow/creations.ts';
import type { Fleet } from './fleet.ts';

const catalog = models as Catalog;
const prompt = 'a lighthouse in a storm, seen from the sea';

/** A model as one vendor rendered it; money in USD. */
export interface VendorRun {
  readonly vendor: VendorName;
  readonly model: string;
  readonly status: string;
  readonly ms: number;
  readonly bytes: number;
  readonly pixels: string;
  readonly price: number;
  readonly cost: number;
  readonly margin: number;
}

/** Every model of the catalog over each vendor that renders it, one after the other. */
export async function runVendors(fleet: Fleet, tell: (what: string) => void): Promise<VendorRun[]> {
  const runs: VendorRun[] = [];
  for (const vendor of Object.keys(fakes) as VendorName[]) {
    const client = await fleet.clientOf(vendor);
    const rendered = catalog.models.filter(({ routes }) =>
      routes.some(({ provider }) => provider === vendor),
    );
    for (const { id } of rendered) {
      tell(`${id} at ${vendor} …`);
      runs.push(await runOne(fleet, vendor, id, client.key));
    }
  }
  return runs;
}

async function runOne(
  { service }: Fleet,
  vendor: VendorName,
  model: string,
  key: string,
): Promise<VendorRun> {
  const id = await submit(service, key, { model, prompt });
  const record = await settled(service, id);
  const [image] = record.results;
  const route = catalog.models
    .find((one) => one.id === model)
    ?.routes.find(({ provider }) => provider === vendor);
  const cost = fromUsd(
    (route && costOf(costs as ProviderCosts, route))?.images.find(
      ({ resolution }) => resolution === record.resolution,
    )?.usd ?? 0,
  );
  return {
    vendor,
    model,
    status: record.status,
    ms: Date.parse(record.completedAt ?? '') - Date.parse(record.createdAt),
    bytes: image?.bytes ?? 0,
    pixels: image ? `${image.width} x ${image.height}` : '-',
    price: toUsd(record.costMicros),
    cost: toUsd(cost),
    margin: toUsd(asMicros(record.costMicros - cost)),
  };
}
