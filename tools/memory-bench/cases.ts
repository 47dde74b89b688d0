/** The largest order of each vendor for each renderer. */
import type { Resolution } from '../../core/image-formats.ts';
import type { Renderer } from '../../core/renderer.ts';
import type { VendorName } from '../vendors/fakes/all-fakes.ts';

export interface MemoryCase {
  readonly vendor: VendorName;
  /** The model of the catalog. */
  readonly model: string;
  readonly resolution: Resolution;
  readonly sources: number;
  /** The bytes of each source image: as many as vendor and service accept. */
  readonly sourceBytes: number;
}

type Row = readonly [VendorName, string, Resolution, number?, number?];

const rows: Readonly<Record<Renderer, readonly Row[]>> = {
  small: [
    ['openai', 'gpt-image-2', '1K'],
    ['google', 'gemini-3.1-flash-image', '1K'],
    ['bedrock', 'sd3.5-large', '1K'],
    ['bfl', 'flux-2-pro', '1K'],
    ['fal', 'flux-2-pro', '1K'],
    ['replicate', 'flux-2-pro', '1K'],
  ],
  large: [
    ['openai', 'gpt-image-2', '4K'],
    ['google', 'gemini-3.1-flash-image', '4K'],
    ['bfl', 'flux-2-pro', '2K'],
    ['fal', 'flux-2-pro', '2K'],
    ['replicate', 'flux-2-pro', '2K'],
  ],
  any: [
    ['openai', 'gpt-image-2', '4K', 10, 10_000_000],
    ['google', 'gemini-3.1-flash-image', '4K', 10, 7_000_000],
    ['bfl', 'flux-2-pro', '2K', 8, 10_000_000],
    ['fal', 'flux-2-pro', '2K', 8, 5_000_000],
    ['replicate', 'flux-2-pro', '2K', 8, 10_000_000],
  ],
};

export function casesOf(renderer: Renderer): MemoryCase[] {
  return rows[renderer].map(([vendor, model, resolution, sources = 0, sourceBytes = 0]) => ({
    vendor,
    model,
    resolution,
    sources,
    sourceBytes,
  }));
}
