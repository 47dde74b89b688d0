import type { TokenPrices } from './billed-cost.ts';
import type { CreationRecord, RouteAttempt } from './creation.ts';
import { defined } from './defined.ts';
import type { ImageStore } from './ports/images.ts';
import type { RenderJob } from './provider.ts';
import { plainMembers, type WithoutPlain } from './request-fields.ts';

interface JobOptions {
  readonly callbackUrl?: string | undefined;
  readonly tokenPrices?: TokenPrices | undefined;
  /** The vendor has called back. */
  readonly saidEnded?: boolean;
}

/** The order to a provider, from the record. */
export function jobOf(
  creation: CreationRecord,
  { providerModel, quality, unitMicros }: Pick<RouteAttempt, 'providerModel' | 'quality' | 'unitMicros'>,
  images: Pick<ImageStore, 'get'>,
  { callbackUrl, tokenPrices, saidEnded = false }: JobOptions = {},
): RenderJob {
  const { prompt, resolution, aspectRatio, outputFormat, seed, sources } = creation;
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
      sourceCount: sources.length,
      callbackUrl,
      tokenPrices,
      saidEnded: saidEnded || undefined,
      unitMicros,
      readSources,
    }),
  };
}
