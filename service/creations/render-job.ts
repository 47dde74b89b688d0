import type { TokenPrices } from '../catalog/billed-cost.ts';
import { plainMembers, type WithoutPlain } from '../contract/request-fields.ts';
import { defined } from '../values/defined.ts';
import type { RenderJob } from '../vendors/provider.ts';
import type { CreationRecord, RouteAttempt } from './creation.ts';
import type { ImageStore } from './image-store.ts';

interface JobOptions {
  readonly callbackUrl?: string | undefined;
  readonly tokenPrices?: TokenPrices | undefined;
  readonly saidEnded?: boolean;
}

export function jobOf(
  creation: CreationRecord,
  { providerModel, quality, unitMicros }: Pick<RouteAttempt, 'providerModel' | 'quality' | 'unitMicros'>,
  images: Pick<ImageStore, 'get'>,
  { callbackUrl, tokenPrices, saidEnded = false }: JobOptions = {},
): RenderJob {
  const { prompt, resolution, aspectRatio, outputFormat, seed, index, sources } = creation;
  const readSources: RenderJob['readSources'] = () =>
    Promise.all(
      sources.map(async ({ key, contentType, width, height }) => ({
        contentType,
        width,
        height,
        bytes: await images.get(key),
      })),
    );
  return {
    ...plainMembers(creation),
    ...defined<WithoutPlain<RenderJob>>({
      providerModel,
      quality,
      prompt,
      resolution,
      aspectRatio,
      outputFormat,
      seed,
      index,
      sourceCount: sources.length,
      callbackUrl,
      tokenPrices,
      saidEnded: saidEnded || undefined,
      unitMicros,
      readSources,
    }),
  };
}
