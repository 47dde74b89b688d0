/** The `size` of an OpenAI request, and the resolution and ratio of a model that come closest to it. */
import type { Model, Route } from '../catalog/catalog-schema.ts';
import { offered } from '../catalog/catalog.ts';
import { type AspectRatio, aspectRatios, type Resolution, resolutions } from '../contract/request-fields.ts';

/** In pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** 'auto': the model's own. Undefined for a text that is no size. */
export function readSize(text: string): Size | 'auto' | undefined {
  if (text === 'auto') return 'auto';
  const [, width, height] = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/i.exec(text) ?? [];
  return width === undefined || height === undefined
    ? undefined
    : { width: Number(width), height: Number(height) };
}

/** Fewer pixels than these are a picture of this resolution. The first row that fits decides. */
const resolutionRows: readonly { readonly below: number; readonly resolution: Resolution }[] = [
  { below: 2_097_152, resolution: '1K' },
  { below: 6_000_000, resolution: '2K' },
  { below: Infinity, resolution: '4K' },
];

/** What the size leaves to choose, as far as the request itself does not name it. */
export interface SizedShape {
  readonly resolution: Resolution;
  readonly aspectRatio: AspectRatio;
}

/**
 * The resolution of the pixels, or the next larger one that the model sells, or its largest. Then, of the ratios
 * that the model renders at this resolution, the nearest. The resolution comes first because it decides the price.
 * Undefined when no route renders anything.
 * @param routes the model's routes that may render the request
 * @param named what the request names itself; the size does not change it
 */
export function shapeOf(
  { width, height }: Size,
  model: Model,
  routes: readonly Route[],
  named: Partial<SizedShape> = {},
): SizedShape | undefined {
  const sold = offered(resolutions, routes, (route) => route.resolutions).filter((value) =>
    model.pricing.some((row) => row.resolution === value),
  );
  const wanted = resolutionRows.find(({ below }) => width * height < below)?.resolution ?? '4K';
  const larger = sold.find((value) => resolutions.indexOf(value) >= resolutions.indexOf(wanted));
  const resolution = named.resolution ?? larger ?? sold.at(-1);
  if (resolution === undefined) return undefined;
  const rendering = routes.filter((route) => route.resolutions.includes(resolution));
  const ratios = offered(aspectRatios, rendering, (route) => route.aspect_ratios);
  const aspectRatio = named.aspectRatio ?? nearest(ratios, width / height);
  return aspectRatio && { resolution, aspectRatio };
}

/** By the distance of the logarithms, so that 2:1 is as far from 1:1 as 1:2 is. */
function nearest(ratios: readonly AspectRatio[], ratio: number): AspectRatio | undefined {
  const distance = (value: AspectRatio): number => {
    const [wide = 1, high = 1] = value.split(':').map(Number);
    return Math.abs(Math.log(wide / high) - Math.log(ratio));
  };
  return ratios.toSorted((a, b) => distance(a) - distance(b))[0];
}
