/** `npm run lab -- vendors`: a table of the pictures, the prices and the margins of all vendors, by their fakes. */
import { Command } from 'commander';
import { readMerged } from '../../admin/catalog/merged-catalog.ts';
import { createOutput, type Output } from '../../client/command/terminal/output.ts';
import { Darkroom } from '../../client/src/darkroom.ts';
import type { Model, ProviderCosts, Route } from '../../service/catalog/catalog-schema.ts';
import type { CreationRecord } from '../../service/creations/creation.ts';
import { costOf } from '../../service/render/route-costs.ts';
import { asMicros, fromUsd, type Micros, toUsd } from '../../service/values/money.ts';
import { settled, submit } from '../../start/creations.ts';
import { vendorNames } from './fakes/all-fakes.ts';
import { isOffered, rareFields, type RareName } from './fakes/facts.ts';
import { pngWith } from './fakes/fake-vendor.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { ownServerNames } from './own-servers.ts';

/** Resolves with whether every creation completed. */
export async function run(args: string[]): Promise<boolean> {
  const { json = false } = new Command('npm run lab -- vendors')
    .description(
      'Send the same prompt through the fake of every vendor, and print pictures, prices and margins',
    )
    .option('--json', 'one JSON document')
    .parse(args, { from: 'user' })
    .opts<{ json?: boolean }>();
  const output = createOutput(json, (line) => console.log(line));
  return showVendors(output, (line) => {
    if (process.stderr.isTTY) console.error(line);
  });
}

const prompt = 'a lighthouse in a storm, seen from the sea';
/** The members of a request that asks for the field. */
const membersOf: Readonly<Record<RareName, (route: Route, upload: Upload) => Promise<object>>> = {
  negative_prompt: async () => Promise.resolve({ negative_prompt: 'people, boats' }),
  quality: async ({ quality }) => Promise.resolve({ quality: quality ?? 'low' }),
  background: async () => Promise.resolve({ background: 'transparent' }),
  mask_url: async (_route, upload) => ({
    image_urls: [await upload(grey(0x20))],
    mask_url: await upload(grey(0xff)),
  }),
};

/** Gives the entry for `image_urls`. */
type Upload = (png: Buffer) => Promise<string>;

/** A PNG of one grey. */
const grey = (value: number): Buffer => pngWith(512, 512, 0, Buffer.alloc(513 * 512, value));

/** One model as one vendor rendered it. Money is in USD. */
interface VendorRun {
  /** Or the name of an own server. */
  readonly vendor: string;
  readonly model: string;
  /** The field that few vendors honour and that the request had. */
  readonly field: RareName | '-';
  readonly status: string;
  readonly ms: number;
  readonly bytes: number;
  readonly pixels: string;
  readonly price: number;
  readonly cost: number;
  readonly margin: number;
}

/** Prints the table. True when every creation completed. */
async function showVendors(output: Output, tell: (line: string) => void): Promise<boolean> {
  const fleet = await startFleet();
  try {
    const runs = await runVendors(fleet, tell);
    output.list(
      runs.map((run) => ({ ...run })),
      'The catalog has no vendors.',
    );
    return runs.every(({ status }) => status === 'completed');
  } finally {
    await fleet.end();
  }
}

/** Renders every model of the catalog once at each vendor that has it, one after the other. */
async function runVendors(fleet: Fleet, tell: (line: string) => void): Promise<VendorRun[]> {
  const runs: VendorRun[] = [];
  const { catalog, costs } = await readMerged(fleet.service.operator);
  for (const vendor of [...vendorNames, ...ownServerNames]) {
    const key = await fleet.keyFor(vendor);
    for (const model of catalog.models) {
      const route = model.routes.find(({ provider }) => provider === vendor);
      if (!route) continue;
      tell(`${model.id} at ${vendor} …`);
      const line = { vendor, model, route, costs };
      runs.push(await runOne(fleet, key, line, '-'));
      for (const field of rareFields)
        if (isOffered[field](route)) runs.push(await runOne(fleet, key, line, field));
    }
  }
  return runs;
}

interface Line {
  readonly vendor: string;
  readonly model: Model;
  readonly route: Route;
  readonly costs: ProviderCosts;
}

async function runOne(
  { service }: Fleet,
  key: string,
  { vendor, model, route, costs }: Line,
  field: VendorRun['field'],
): Promise<VendorRun> {
  const client = new Darkroom({ apiKey: key, baseUrl: service.machine.apiUrl });
  const upload: Upload = async (png) => client.uploads.create(new Blob([png], { type: 'image/png' }));
  const id = await submit(service, key, {
    model: model.id,
    prompt,
    ...(field !== '-' && (await membersOf[field](route, upload))),
  });
  const creation = await settled(service, id);
  const [image] = creation.results;
  const cost = vendorCost(costs, route, creation);
  return {
    vendor,
    model: model.id,
    field,
    status: creation.status,
    ms: Date.parse(creation.completedAt ?? '') - Date.parse(creation.createdAt),
    bytes: image?.bytes ?? 0,
    pixels: image ? `${image.width} x ${image.height}` : '-',
    price: toUsd(creation.costMicros),
    cost: toUsd(cost),
    margin: toUsd(asMicros(creation.costMicros - cost)),
  };
}

/** What the vendor charges for an image of this resolution; 0 when the catalog does not know it. */
function vendorCost(costs: ProviderCosts, route: Route, { resolution }: CreationRecord): Micros {
  const images = costOf(costs, route)?.images ?? [];
  return fromUsd(images.find((image) => image.resolution === resolution)?.usd ?? 0);
}
