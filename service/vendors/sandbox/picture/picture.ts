import { silkPainter } from './aurora.ts';
import { type Frame, frameOf, type PaintRow, paletteOf } from './colour.ts';
import { writePng } from '../../write-png.ts';
import { develop, pngTexts, writeJpeg } from './develop.ts';
import { landscapePainter } from './landscape.ts';
import { diceFor } from './noise.ts';
import { paperCutPainter } from './paper-cut.ts';
import { type Theme, themeOf } from './theme.ts';
import { tilePainter } from './tiles.ts';

export interface PictureJob {
  readonly prompt: string;
  /** Known words in it keep motifs and colours out of the picture. */
  readonly negativePrompt?: string;
  readonly seed: number;
  /** Pixels, at least 1. */
  readonly width: number;
  /** Pixels, at least 1. */
  readonly height: number;
  readonly format: 'png' | 'jpeg';
  /** The picture is a disc on nothing, in PNG alone. */
  readonly isCutOut?: true;
  /** Every colour has 16 shades, and the file is smaller. */
  readonly isDraft?: true;
}

/**
 * Renders the picture of a prompt. The same prompt, seed, size and format give the same bytes. Known words of
 * the prompt choose the motif and the colours, and the dice choose everything else. Other work of the process
 * can run every few tens of milliseconds.
 *
 * @param kept RGBA in the size of the picture: what is opaque in it is put over the picture
 */
export async function renderPicture(job: PictureJob, kept?: Uint8Array): Promise<Buffer> {
  const frame = frameOf(job.width, job.height);
  const paint = painterOf(frame, job);
  const bandsOf = (samples: 3 | 4) => (rows: number) => {
    const painted = develop(frame, paint, samples, rows);
    const bands = job.isDraft ? drafted(painted, samples) : painted;
    const shaped = samples === 4 && job.isCutOut && job.format === 'png' ? cutOut(bands, frame) : bands;
    return kept ? covered(shaped, samples, kept) : shaped;
  };
  if (job.format !== 'png') return writeJpeg(frame, job.prompt, bandsOf(4));
  const { width, height } = frame;
  const samples = job.isCutOut ? 4 : 3;
  return writePng({ width, height, samples, chunks: pngTexts(job.prompt) }, bandsOf(samples));
}

/** Behind the grain, which would hide the steps between the shades. */
async function* drafted(bands: AsyncIterable<Uint8Array>, samples: 3 | 4): AsyncGenerator<Uint8Array> {
  for await (const band of bands) {
    for (let i = 0; i < band.length; i++) if (i % samples !== 3) band[i] = ((band[i] ?? 0) & 0xf0) + 8;
    yield band;
  }
}

async function* covered(
  bands: AsyncIterable<Uint8Array>,
  samples: 3 | 4,
  kept: Uint8Array,
): AsyncGenerator<Uint8Array> {
  let from = 0;
  for await (const band of bands) {
    for (let to = 0; to < band.length; to += samples, from += 4)
      if (kept[from + 3] === 255) band.set(kept.subarray(from, from + samples), to);
    yield band;
  }
}

/** Outside the largest disc of the middle nothing is painted: 21 % of a square. */
async function* cutOut(
  bands: AsyncIterable<Uint8Array>,
  { width, height }: Frame,
): AsyncGenerator<Uint8Array> {
  const radius = Math.min(width, height) / 2;
  let y = 0;
  for await (const band of bands) {
    for (let start = 0; start < band.length; start += width * 4, y++) {
      const half = Math.sqrt(Math.max(0, radius ** 2 - (y + 0.5 - height / 2) ** 2));
      band.fill(0, start, start + Math.round(width / 2 - half) * 4);
      band.fill(0, start + Math.round(width / 2 + half) * 4, start + width * 4);
    }
    yield band;
    // The painter uses the memory again, and never writes the opacities.
    band.fill(255);
  }
}

function painterOf(frame: Frame, { prompt, negativePrompt, seed }: PictureJob): PaintRow {
  const dice = (part: string) => diceFor(prompt, seed, part);
  const theme = themeOf(prompt, dice('theme'), negativePrompt);
  return painterOfTheme(frame, theme, dice);
}

function painterOfTheme(
  frame: Frame,
  { motif, palette: name }: Theme,
  dice: (part: string) => ReturnType<typeof diceFor>,
): PaintRow {
  const palette = paletteOf(name);
  switch (motif) {
    case 'silk':
      return silkPainter(frame, palette, dice('silk'));
    case 'paper-cut':
      return paperCutPainter(frame, palette, dice('paper'));
    case 'tiles':
      return tilePainter(frame, palette, dice('tiles'));
    case 'mountains':
    case 'forest':
    case 'dunes':
    case 'sea':
    case 'aurora':
      return landscapePainter(frame, palette, motif, dice);
  }
}
