import type { Model } from './catalog.ts';
import type { Resolution } from './image-formats.ts';
import { asMicros, fromUsd, type Micros } from './money.ts';

/**
 * The price of a creation. It follows from the model, the resolution and the number of
 * source images, so that it is known before anything is rendered. Undefined when the model
 * has no price for the resolution: nobody can order that resolution.
 */
export function priceOf(model: Model, resolution: Resolution, imageCount: number): Micros | undefined {
  const price = model.pricing.find((row) => row.resolution === resolution);
  if (!price) return undefined;
  return asMicros(fromUsd(price.usd) + imageCount * fromUsd(price.usd_per_input_image));
}
