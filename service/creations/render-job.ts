import type { TokenPrices } from '../catalog/billed-cost.ts';
import { backgroundIn, plainMembers, tierIn, type WithoutPlain } from '../contract/request-fields.ts';
import { defined } from '../values/defined.ts';
import type { RenderJob, SourceImage } from '../vendors/provider.ts';
import type { CreationRecord, RouteAttempt, StoredImage } from './creation.ts';
import type { ImageStore } from './image-store.ts';

interface JobOptions {
  readonly callbackUrl?: string | undefined;
  readonly tokenPrices?: TokenPrices | undefined;
  readonly saidEnded?: boolean;
  /** Makes what is sent of the mask. Absent: the mask as it came. */
  readonly maskToSend?: (mask: Uint8Array) => Promise<Uint8Array>;
}

export function jobOf(
  creation: CreationRecord,
  attempt: Pick<RouteAttempt, 'providerModel' | 'quality' | 'unitMicros'>,
  images: Pick<ImageStore, 'get'>,
  { callbackUrl, tokenPrices, saidEnded = false, maskToSend }: JobOptions = {},
): RenderJob {
  const { prompt, resolution, aspectRatio, outputFormat, seed, index, sources, mask } = creation;
  const { providerModel, quality = tierIn(creation), unitMicros } = attempt;
  const { quality: _asked, background: _any, ...plain } = plainMembers(creation);
  const read = async ({ key, contentType, width, height }: StoredImage): Promise<SourceImage> => ({
    contentType,
    width,
    height,
    bytes: await images.get(key),
  });
  const readMask = async (stored: StoredImage): Promise<SourceImage> => {
    const image = await read(stored);
    return maskToSend ? { ...image, bytes: await maskToSend(image.bytes) } : image;
  };
  return {
    ...plain,
    ...defined<WithoutPlain<RenderJob> & Pick<RenderJob, 'quality' | 'background'>>({
      providerModel,
      quality,
      background: backgroundIn(creation),
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
      readSources: () => Promise.all(sources.map(read)),
      readMask: mask && (() => readMask(mask)),
    }),
  };
}
