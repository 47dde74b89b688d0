/** The adapter of every vendor and of every own server, connected with an address of a test. */
import { readCatalog } from '../../admin/catalog/catalog-files.ts';
import { fleetFakes, type FleetName } from '../../lab/vendors/fleet.ts';
import {
  ownDefinition,
  type OwnServerName,
  ownServerNames,
  ownServers,
} from '../../lab/vendors/own-servers.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { createConfigured } from '../../service/vendors/configured.ts';
import type { ImageProvider, ProviderCredentials, RenderJob } from '../../service/vendors/provider.ts';
import { createVendors } from '../../service/vendors/vendors.ts';
import { jobsLike } from './vendor-talk.ts';

const isOwn = (name: FleetName): name is OwnServerName => ownServerNames.some((one) => one === name);

/** The adapter of a vendor that is at the address, with a key or without one. */
export async function adapterAt(
  name: FleetName,
  url: string,
  key: string | undefined | ProviderCredentials,
): Promise<ImageProvider> {
  const credentials =
    typeof key === 'object' ? key : { read: async () => Promise.resolve(key), forget: () => undefined };
  const settings = { name, credentials, clock: systemClock };
  if (isOwn(name)) return createConfigured({ ...ownDefinition(name, url), credential: 'key' }, settings);
  const access = { ...settings, baseUrls: { [name]: url }, bedrockRegion: 'us-west-2' };
  const provider = await createVendors(access).get(name);
  if (!provider) throw new Error(`no adapter of ${name}`);
  return provider;
}

/** An ordinary job for the first route that the vendor has. */
export function jobFor(name: FleetName): RenderJob {
  if (isOwn(name)) return jobsLike({ providerModel: ownServers[name].providerModel })();
  const model = readCatalog().models.find(({ id }) => id === fleetFakes[name].model);
  const route = model?.routes.find(({ provider }) => provider === name);
  if (!model || !route) throw new Error(`no route of ${name}`);
  return jobsLike({
    providerModel: route.provider_model,
    ...(route.quality !== null && { quality: route.quality }),
    resolution: model.default_resolution,
    aspectRatio: model.default_aspect_ratio,
    outputFormat: model.default_output_format,
  })();
}
