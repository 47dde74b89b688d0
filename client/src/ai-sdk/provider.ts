import { Darkroom } from '../darkroom.ts';
import { machineryOf } from '../http/machinery.ts';
import type { DarkroomOptions } from '../options.ts';
import type { Model } from '../types/generated.ts';
import { DarkroomImageModel } from './image-model.ts';
import { SourceFiles } from './order.ts';

/** The models of a Darkroom service. */
export interface DarkroomProvider {
  /** The image model with this id of GET /models. */
  image(modelId: string): DarkroomImageModel;
  /** The same, by the name that registries of `ai` use. */
  imageModel(modelId: string): DarkroomImageModel;
}

/**
 * The models of a service for `generateImage` of the package `ai`, version 7. Takes the options of a client,
 * or the client itself. A call is paid once for each image, whatever `maxRetries` is.
 *
 * @example
 * ```ts
 * import { generateImage } from 'ai';
 * import { createDarkroom } from 'darkroom-client/ai-sdk';
 *
 * const provider = createDarkroom(); // DARKROOM_API_KEY, DARKROOM_BASE_URL
 * const { image } = await generateImage({ model: provider.image('sandbox-sketch'), prompt: 'a lake at dawn' });
 * console.log(image.mediaType); // image/png
 * ```
 */
export function createDarkroom(options: DarkroomOptions | Darkroom = {}): DarkroomProvider {
  const darkroom = options instanceof Darkroom ? options : new Darkroom(options);
  const { now } = machineryOf(options);
  const shared = { darkroom, now, files: new SourceFiles(darkroom, now), offered: catalogOf(darkroom) };
  const image = (modelId: string): DarkroomImageModel => new DarkroomImageModel(modelId, shared);
  return { image, imageModel: image };
}

/** Reads the catalog once, and again when it lacks a model. */
function catalogOf(
  darkroom: Darkroom,
): (modelId: string, signal?: AbortSignal) => Promise<Model | undefined> {
  let models: readonly Model[] = [];
  return async (modelId, signal) => {
    const known = models.find(({ id }) => id === modelId);
    if (known) return known;
    models = await darkroom.models.list({ signal });
    return models.find(({ id }) => id === modelId);
  };
}
