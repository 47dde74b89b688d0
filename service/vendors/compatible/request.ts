/** The request of a job, as the style of a server has it. */
import type { Style } from '../../catalog/providers.ts';
import type { AspectRatio, Resolution } from '../../contract/request-fields.ts';
import { openaiSizes } from '../openai-sizes.ts';
import type { RenderJob, SourceImage } from '../provider.ts';
import { base64Of, dataUriOf } from '../vendor-jobs.ts';

type RatiosOfSeedream = Exclude<AspectRatio, '5:4' | '4:5'>;

/**
 * The sizes of Seedream by tier and ratio, as the vendor recommends them for 2K and 4K; it recommends none for 5:4 and
 * 4:5. Its limits: 5.0 pro renders 921,600 to 4,624,220 pixels, 4.5 and 5.0 lite render 3,686,400 to 16,777,216.
 * https://docs.byteplus.com/en/docs/ModelArk/1541523, as https://apixo.ai/docs/models/image/seedream-4-5 and public
 * clients quote it (read 2026-11-23)
 */
const arkSizes: Readonly<Record<Resolution, Readonly<Record<RatiosOfSeedream, string>>>> = {
  '1K': openaiSizes['1K'],
  '2K': {
    '1:1': '2048x2048',
    '3:2': '2496x1664',
    '2:3': '1664x2496',
    '4:3': '2304x1728',
    '3:4': '1728x2304',
    '16:9': '2848x1600',
    '9:16': '1600x2848',
    '21:9': '3136x1344',
  },
  '4K': {
    '1:1': '4096x4096',
    '3:2': '4992x3328',
    '2:3': '3328x4992',
    '4:3': '4704x3520',
    '3:4': '3520x4704',
    '16:9': '5504x3040',
    '9:16': '3040x5504',
    '21:9': '6240x2656',
  },
};

/** The fields of a request that name the size. Throws for a size that the catalog must not offer. */
function sizeFields(
  syntax: Style['size'],
  { resolution, aspectRatio }: Pick<RenderJob, 'resolution' | 'aspectRatio'>,
): Readonly<Record<string, string>> {
  switch (syntax) {
    case 'pixels':
      return { size: openaiSizes[resolution][aspectRatio] };
    case 'ark_pixels': {
      if (aspectRatio === '5:4' || aspectRatio === '4:5')
        throw new Error(`Seedream renders no ${aspectRatio}`);
      return { size: arkSizes[resolution][aspectRatio] };
    }
    case 'ratio':
      return { size: aspectRatio };
    case 'tier':
      return { size: resolution, aspect_ratio: aspectRatio };
    case 'ratio_and_resolution':
      return { aspect_ratio: aspectRatio, resolution: resolution.toLowerCase() };
  }
}

type Value = string | number | boolean;

export interface StyledRequest {
  readonly path: string;
  readonly body: object | FormData;
}

export async function requestOf(style: Style, job: RenderJob): Promise<StyledRequest> {
  const fields = fieldsOf(style, job);
  if (job.sourceCount === 0) return { path: style.generationsPath, body: fields };
  const sources = await job.readSources();
  const body = withSources(style, fields, sources);
  if (job.readMask) addMask(style, body, await job.readMask());
  return { path: style.editsPath, body };
}

/** A fixed field of the style gives way to a field of the job. */
function fieldsOf(style: Style, job: RenderJob): Readonly<Record<string, Value>> {
  const quality = style.quality === 'always' ? (job.quality ?? 'medium') : job.quality;
  return {
    ...style.fixed,
    model: job.providerModel,
    prompt: job.prompt ?? '',
    ...sizeFields(style.size, job),
    ...(style.quality !== 'never' && quality !== undefined && { quality }),
    ...(style.outputFormat !== null && { [style.outputFormat]: job.outputFormat }),
    ...(style.seed !== null && job.seed !== null && { [style.seed]: job.seed }),
    ...negativeFields(style, job),
    ...(style.background !== null && job.background != null && { [style.background]: job.background }),
  };
}

/** Throws for a server that takes no negative prompt: the catalog must not offer it there. */
function negativeFields(
  { negativePrompt: field }: Style,
  { negativePrompt: text }: RenderJob,
): Readonly<Record<string, string>> {
  if (text == null) return {};
  if (field === null) throw new Error('a server without negative prompts was given one');
  return { [field]: text };
}

function withSources(
  { edits, sourceField }: Style,
  fields: Readonly<Record<string, Value>>,
  sources: readonly SourceImage[],
): object | FormData {
  switch (edits) {
    case 'multipart':
      return formOf(fields, sourceField, sources);
    case 'data_uris':
      return { ...fields, [sourceField]: sources.map(dataUriOf) };
    case 'base64':
      return { ...fields, [sourceField]: sources.map(base64Of) };
    case 'image_objects': {
      const [first, ...more] = sources.map((source) => ({ type: 'image_url', url: dataUriOf(source) }));
      return more.length === 0
        ? { ...fields, [sourceField]: first }
        : { ...fields, [`${sourceField}s`]: [first, ...more] };
    }
    case 'none':
      throw new Error('a server without source images was given one');
  }
}

/** Throws for a server that takes no mask: the catalog must not offer it there. */
function addMask({ mask: field }: Style, body: object | FormData, { bytes, contentType }: SourceImage): void {
  if (field === null || !(body instanceof FormData)) throw new Error('a server without masks was given one');
  body.append(field, new Blob([bytes], { type: contentType }), 'mask.png');
}

function formOf(
  fields: Readonly<Record<string, Value>>,
  sourceField: string,
  sources: readonly SourceImage[],
): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, String(value));
  for (const [index, { contentType, bytes }] of sources.entries()) {
    const blob = new Blob([bytes], { type: contentType });
    form.append(sourceField, blob, `image-${index + 1}.${contentType.replace('image/', '')}`);
  }
  return form;
}
