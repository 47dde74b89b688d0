/**
 * The input of each model on Replicate.
 *
 * Input schemas read on 2026-11-21: https://replicate.com/black-forest-labs/flux-2-pro (version 00b07c32),
 * .../flux-2-max (9c23b0aa) and .../flux-2-klein-4b (8e9c42d7), each under /versions/<id>/api. Older versions
 * of flux-2-pro round pixels to multiples of 32. Not found there: the list of klein's ratios, and the values
 * of `output_megapixels` beyond "1" and "2". The schema of .../flux-3-image (ec84b8fb) as genfeedai/genfeed.ai
 * saved it on 2026-10-01; FLUX 3 takes no seed.
 */
import type { OutputFormat } from '../../../core/image-formats.ts';
import type { RenderJob } from '../../../core/provider.ts';
import { fluxPixelsOf } from '../flux-pixels.ts';

const formats: Readonly<Record<OutputFormat, string>> = { png: 'png', jpeg: 'jpg', webp: 'webp' };

/** Up to 100. The vendor's default is 80 for pro and max, and 95 for klein. PNG ignores it. */
const outputQuality = 95;

/** @param files an address or a data URI for each source image, in order */
export function inputOf(job: RenderJob, files: readonly string[]): object {
  const ofAll = {
    prompt: job.prompt ?? '',
    output_format: formats[job.outputFormat],
    output_quality: outputQuality,
  };
  if (job.providerModel.endsWith('/flux-3-image'))
    return {
      ...ofAll,
      aspect_ratio: job.aspectRatio,
      resolution: job.resolution.toLowerCase(),
      // Otherwise the model searches the web for some prompts.
      grounding: false,
      safety_tolerance: 2,
      ...(files.length > 0 && { images: files }),
    };
  const common = { ...ofAll, ...(job.seed !== null && { seed: job.seed }) };
  return job.providerModel.includes('klein')
    ? {
        ...common,
        aspect_ratio: job.aspectRatio,
        output_megapixels: megapixelsOf(job),
        ...(files.length > 0 && { images: files }),
      }
    : {
        ...common,
        aspect_ratio: 'custom',
        ...fluxPixelsOf(job.resolution, job.aspectRatio),
        // The default of all three vendors of FLUX.2.
        safety_tolerance: 2,
        ...(files.length > 0 && { input_images: files }),
      };
}

/**
 * klein takes megapixels instead of pixels, and only 1K has a known value. The catalog has no other route.
 */
function megapixelsOf({ resolution }: RenderJob): string {
  if (resolution !== '1K') throw new Error(`klein on Replicate renders no ${resolution}`);
  return '1';
}
