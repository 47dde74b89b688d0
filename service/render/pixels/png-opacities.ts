/** The opacities of a PNG. The colours stay filtered. */
import { samplesIn } from '../thumbnails/png-samples.ts';
import { chunksOf, pngRows } from '../thumbnails/png.ts';
import type { Rows, Size } from '../thumbnails/shrink.ts';
import type { Opacities } from './opacities.ts';

/** Samples of a pixel by the colour types that have a sample for the opacity. */
const samplesOf: Readonly<Record<number, number>> = { 4: 2, 6: 4 };

/** Undefined: every pixel is opaque. Throws for Adam7 and for a transparent colour without a palette. */
export function pngOpacities(bytes: Uint8Array, size: Size): Opacities | undefined {
  const [depth = 0, colour = 0, , , interlace] = bytes.subarray(24, 29);
  const { data, opacities } = chunksOf(bytes);
  const samples = samplesOf[colour];
  if (samples === undefined) return opacities ? fourths(pngRows(bytes, size).rows) : undefined;
  if (interlace !== 0 || (depth !== 8 && depth !== 16)) throw new Error('a PNG of a kind that is not read');
  return opacitiesIn(samplesIn(data, { ...size, depth, samples, wanted: [samples - 1] }));
}

async function* opacitiesIn(rows: ReturnType<typeof samplesIn>): AsyncGenerator<Uint8Array> {
  for await (const [opacities] of rows) if (opacities) yield opacities.subarray(1);
}

async function* fourths(rows: Rows['rows']): AsyncGenerator<Uint8Array> {
  for await (const row of rows) yield Uint8Array.from(row.filter((_, i) => i % 4 === 3));
}
