import type { Catalog } from '../../../core/catalog.ts';
import type { OutputFormat } from '../../../core/image-formats.ts';
import { toldQuality } from '../../../core/openai/plan-body.ts';
import type { Quality } from '../../../core/openai/quality.ts';
import type { Picture } from './pictures.ts';

/** The fields of a picture in the OpenAI API, beside its bytes. */
export interface Shown {
  readonly output_format: OutputFormat;
  /** The real one, in pixels. */
  readonly size: string;
  readonly quality: Quality;
  readonly background: 'opaque';
}

/** @param picture undefined when no creation has a result, which only a defect can make */
export function shownOf(picture: Picture | undefined, catalog: Catalog): Shown {
  const { width = 0, height = 0 } = picture?.image ?? {};
  return {
    output_format: picture?.creation.outputFormat ?? 'png',
    size: `${width}x${height}`,
    quality: toldQuality(catalog.models.find(({ id }) => id === picture?.creation.model)),
    background: 'opaque',
  };
}
