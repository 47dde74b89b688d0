/** The size of a picture, and the length in which its motif is measured. */
export interface Frame {
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
  /**
   * The length 1 of a motif, in pixels. It lies between the shorter and the longer side of the picture. With
   * the shorter side alone, a motif would be too small in a banner. With the longer side alone, the motif
   * would be larger than the banner.
   */
  readonly unit: number;
}

/**
 * Paints the pixel row `y` into `row`, which has three floats for each pixel: sRGB levels from 0 to 255. The
 * caller asks for the rows from top to bottom.
 */
export type PaintRow = (y: number, row: Float32Array) => void;

/** The frame of a picture whose sides have this many pixels. */
export function frameOf(width: number, height: number): Frame {
  return { width, height, unit: Math.min(width, height) ** 0.7 * Math.max(width, height) ** 0.3 };
}
