/** The request of a job, as the style of a server has it. */
import type { Style } from '../../catalog/provider-styles.ts';
import type { RenderJob, SourceImage } from '../provider.ts';
import { base64Of, dataUriOf } from '../vendor-jobs.ts';
import { sizeFields } from './sizes.ts';

type Value = string | number | boolean;

export interface StyledRequest {
  readonly path: string;
  readonly body: object | FormData;
}

export async function requestOf(style: Style, job: RenderJob): Promise<StyledRequest> {
  const fields = fieldsOf(style, job);
  if (job.sourceCount === 0) return { path: style.generationsPath, body: fields };
  const sources = await job.readSources();
  return { path: style.editsPath, body: withSources(style, fields, sources) };
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
  };
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
