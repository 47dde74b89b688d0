/** The size of a picture, and the length that its motif is measured in. */
export interface Frame {
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
  /**
   * Pixels: what a motif calls 1. Between the sides, so that a motif neither shrinks in a banner nor fills
   * it.
   */
  readonly unit: number;
}

/**
 * Paints the pixel row `y` to `row`: three floats a pixel, sRGB levels 0 to 255. Rows come from top to
 * bottom.
 */
export type PaintRow = (y: number, row: Float32Array) => void;

/** The frame of a picture of that many pixels. */
export function frameOf(width: number, height: number): Frame {
  return { width, height, unit: Math.min(width, height) ** 0.7 * Math.max(width, height) ** 0.3 };
}
