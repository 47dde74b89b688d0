import type { Model } from './catalog.ts';
import type { Resolution } from './image-formats.ts';
import { asMicros, fromUsd, type Micros } from './money.ts';

/**
 * The price of a creation: known before anything is rendered, from the model, the
 * resolution and the number of source images alone. Undefined when the model has no
 * price for the resolution: it cannot be ordered.
 */
export function priceOf(model: Model, resolution: Resolution, imageCount: number): Micros | undefined {
  const price = model.pricing.find((row) => row.resolution === resolution);
  if (!price) return undefined;
  return asMicros(fromUsd(price.usd) + imageCount * fromUsd(price.usd_per_input_image));
}
