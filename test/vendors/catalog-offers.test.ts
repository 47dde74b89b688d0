/**
 * Whatever a route of the catalog offers, its provider's adapter can ask its vendor for. A vendor here is a
 * local server that counts requests: an adapter that throws or refuses by itself sends none.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pictureOf } from '../../lab/vendors/fakes/fake-vendor.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { catalogSchema, type Route } from '../../service/catalog/catalog-schema.ts';
import models from '../../service/catalog/models.json' with { type: 'json' };
import { providers as knownProviders } from '../../service/catalog/providers.ts';
import { createBedrock } from '../../service/vendors/bedrock.ts';
import type { ImageProvider, RenderJob, SourceImage } from '../../service/vendors/provider.ts';
import { pixelsOf } from '../../service/vendors/sandbox/provider.ts';
import { everyVendor } from './vendor-talk.ts';

const routes = catalogSchema
  .parse(models)
  .models.flatMap((model) => model.routes.map((route) => ({ model: model.id, route })));
const isOfSandbox = ({ route }: { readonly route: Route }): boolean => route.provider.startsWith('sandbox');

let server: Server;
let received = 0;
let providers: ReadonlyMap<string, ImageProvider>;

beforeAll(async () => {
  server = createServer((request, response) => {
    received += 1;
    request.resume().on('end', () => response.writeHead(503).end('{}'));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const access = {
    credentials: { read: async () => Promise.resolve('key'), forget: () => undefined },
    clock: systemClock,
    baseUrls: Object.fromEntries(Object.keys(knownProviders).map((name) => [name, url])),
    bedrockRegion: 'us-west-2',
  };
  const bedrock = createBedrock({
    name: 'bedrock',
    region: 'us-west-2',
    endpoint: url,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
  providers = new Map([...(await everyVendor(access)), bedrock].map((provider) => [provider.name, provider]));
});
afterAll(
  async () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    }),
);

/** Every ratio at every resolution in the first format, and every format and the most source images once. */
function jobsOf(route: Route): RenderJob[] {
  const ordinary = {
    providerModel: route.provider_model,
    ...(route.quality !== null && { quality: route.quality }),
    prompt: 'a lake',
    seed: null,
    sourceCount: 0,
    readSources: async () => Promise.resolve([]),
  };
  const shapes = route.resolutions.flatMap((resolution) =>
    route.aspect_ratios.flatMap((aspectRatio, index) =>
      (index === 0 ? route.output_formats : route.output_formats.slice(0, 1)).map((outputFormat) => ({
        ...ordinary,
        resolution,
        aspectRatio,
        outputFormat,
      })),
    ),
  );
  const source: SourceImage = {
    contentType: 'image/png',
    width: 64,
    height: 64,
    bytes: pictureOf('png', 64, 64),
  };
  const sources = Array<SourceImage>(route.max_image_urls).fill(source);
  const readSources = async (): Promise<readonly SourceImage[]> => Promise.resolve(sources);
  return sources.length === 0
    ? shapes
    : [...shapes, ...shapes.slice(0, 1).map((job) => ({ ...job, sourceCount: sources.length, readSources }))];
}

describe('the adapter of a route of the catalog', () => {
  it.each(
    routes
      .filter((one) => !isOfSandbox(one))
      .map(({ model, route }) => [model, `${route.provider} ${route.provider_model}`, route] as const),
  )('of %s over %s sends a request for everything that the route offers', async (_model, _name, route) => {
    const provider = providers.get(route.provider);
    if (!provider) throw new Error(`no adapter is called ${route.provider}`);
    const { signal } = new AbortController();
    for (const job of jobsOf(route)) {
      const before = received;
      const asked = `${job.resolution} ${job.aspectRatio} ${job.outputFormat} of ${job.sourceCount} images`;
      const answer = await provider.submit(job, signal);
      expect(answer, asked).toMatchObject({ kind: 'refused', reason: 'unavailable' });
      expect(received, asked).toBeGreaterThan(before);
    }
  });
});

describe('the sandbox', () => {
  it.each(routes.filter(isOfSandbox).map(({ model, route }) => [model, route.provider, route] as const))(
    'draws for %s over %s every ratio at every resolution that the route offers',
    (_model, _provider, route) => {
      for (const { resolution, aspectRatio } of jobsOf(route)) {
        const { width, height } = pixelsOf(resolution, aspectRatio);
        const [across = 0, down = 0] = aspectRatio.split(':').map(Number);
        expect((width * down) / (height * across), `${resolution} ${aspectRatio}`).toBeCloseTo(1, 1);
      }
    },
  );
});
