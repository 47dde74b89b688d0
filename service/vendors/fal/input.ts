/**
 * The address and the input of each model at fal.
 *
 * FLUX.2: the types of @fal-ai/client 1.10.1 (libs/client/src/types/endpoints.ts of github.com/fal-ai/fal-js;
 * read 2026-11-23). The others, in stored copies (read 2026-11-23):
 * https://fal.ai/models/openai/gpt-image-2.5/flare/text-to-image/llms.txt (GPT Image 2 takes the same fields),
 * https://fal.ai/models/google/nano-banana-2.1/api,
 * https://fal.ai/models/blackforestlabs/flux-3/text-to-image and .../edit-image.
 *
 * Not verified: the pixel limits of FLUX.2's `image_size`, the number of source images that pro, max and flex
 * take, and the largest data URI.
 */
import { fluxPixelsOf } from '../flux-pixels.ts';
import { openaiSizes } from '../openai-sizes.ts';
import type { RenderJob } from '../provider.ts';

interface Family {
  /** The last part of the address that renders from text alone. None: the address is the model's own. */
  readonly fromText?: string;
  readonly fromImages: string;
  readonly fieldsOf: (job: RenderJob) => object;
}

/** Fields that only some models of FLUX.2 have. safety_tolerance is the default of all vendors of FLUX.2. */
const ownFields: Readonly<Record<string, object>> = {
  'fal-ai/flux-2-pro': { safety_tolerance: '2' },
  'fal-ai/flux-2-max': { safety_tolerance: '2' },
  'fal-ai/flux-2-flex': { safety_tolerance: '2' },
  'fal-ai/flux-2/klein/4b': { num_images: 1 },
};

const flux2: Family = {
  fromImages: '/edit',
  fieldsOf: (job) => ({
    image_size: fluxPixelsOf(job.resolution, job.aspectRatio),
    enable_safety_checker: true,
    ...seedOf(job),
    ...ownFields[job.providerModel],
  }),
};

/** By the beginning of the addresses of their models. */
const otherFamilies: readonly (Family & { readonly prefix: string })[] = [
  {
    prefix: 'openai/',
    fromText: '/text-to-image',
    fromImages: '/edit',
    fieldsOf: ({ resolution, aspectRatio, quality = 'medium' }) => {
      const [width, height] = openaiSizes[resolution][aspectRatio].split('x').map(Number);
      return { image_size: { width, height }, quality, num_images: 1 };
    },
  },
  {
    prefix: 'google/',
    fromImages: '/edit',
    fieldsOf: (job) => ({
      aspect_ratio: job.aspectRatio,
      resolution: job.resolution,
      num_images: 1,
      ...seedOf(job),
    }),
  },
  {
    prefix: 'blackforestlabs/flux-3',
    fromText: '/text-to-image',
    fromImages: '/edit-image',
    fieldsOf: ({ resolution, aspectRatio }) => ({
      aspect_ratio: aspectRatio,
      resolution: resolution.toLowerCase(),
      safety_tolerance: 2,
    }),
  },
];

/** @param files a data URI for each source image, in order */
export function inputOf(job: RenderJob, files: readonly string[]): { path: string; body: object } {
  const family = otherFamilies.find(({ prefix }) => job.providerModel.startsWith(prefix));
  const { fromText = '', fromImages, fieldsOf } = family ?? flux2;
  const own = job.providerModel.endsWith(fromText)
    ? job.providerModel.slice(0, job.providerModel.length - fromText.length)
    : job.providerModel;
  return {
    path: `/${files.length > 0 ? own + fromImages : job.providerModel}`,
    body: {
      prompt: job.prompt ?? '',
      output_format: job.outputFormat,
      ...fieldsOf(job),
      ...(files.length > 0 && { image_urls: files }),
    },
  };
}

function seedOf({ seed }: RenderJob): { seed?: number } {
  return seed === null ? {} : { seed };
}
