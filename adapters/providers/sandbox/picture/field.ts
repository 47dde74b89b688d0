import type { Frame } from './frame.ts';

/** A smooth quantity over the picture, kept on a coarse grid and read row by row at full size. */
export interface Field {
  /**
   * Writes the quantity along the pixel row at height `y` (pixels, any fraction) to `out`, one number a
   * pixel.
   */
  readRow(y: number, out: Float32Array): void;
}

/**
 * Evaluates `at` on a coarse grid and reads it back through cubic B-splines, which are smooth to the second
 * derivative: light that follows the slope shows no facets. `x` and `y` are in units of the frame.
 *
 * @param nodes how many grid nodes to spend on the picture's longer side
 */
export function fieldOf(frame: Frame, nodes: number, at: (x: number, y: number) => number): Field {
  const longer = Math.max(frame.width, frame.height);
  // A small picture has no use for more than a node every other pixel.
  const step = longer / Math.min(nodes, Math.ceil(longer / 2));
  const columns = Math.ceil(frame.width / step) + 4;
  const lines = Math.ceil(frame.height / step) + 4;
  const values = new Float32Array(columns * lines);
  for (let line = 0; line < lines; line++) {
    for (let column = 0; column < columns; column++) {
      const [x, y] = [(column - 1) * step - frame.width / 2, (line - 1) * step - frame.height / 2];
      values[line * columns + column] = at(x / frame.unit, y / frame.unit);
    }
  }
  const spread = spreadOver(frame.width, step);
  const blended = new Float32Array(columns);
  return {
    readRow(y, out) {
      blendLines(values, columns, Math.min(Math.max(y, 0), frame.height) / step, blended);
      spread(blended, out);
    },
  };
}

/** The four weights of a cubic B-spline at a fraction of a step. */
function weights(part: number): [number, number, number, number] {
  const rest = 1 - part;
  return [
    (rest * rest * rest) / 6,
    (3 * part * part * part - 6 * part * part + 4) / 6,
    (3 * rest * rest * rest - 6 * rest * rest + 4) / 6,
    (part * part * part) / 6,
  ];
}

function blendLines(values: Float32Array, columns: number, at: number, out: Float32Array): void {
  const line = Math.floor(at);
  const [a, b, c, d] = weights(at - line);
  const start = line * columns;
  for (let column = 0; column < columns; column++) {
    const i = start + column;
    out[column] =
      (values[i] ?? 0) * a +
      (values[i + columns] ?? 0) * b +
      (values[i + 2 * columns] ?? 0) * c +
      (values[i + 3 * columns] ?? 0) * d;
  }
}

function spreadOver(width: number, step: number): (nodes: Float32Array, out: Float32Array) => void {
  const first = new Int32Array(width);
  const parts = new Float32Array(width * 4);
  for (let x = 0; x < width; x++) {
    const at = (x + 0.5) / step;
    first[x] = Math.floor(at);
    parts.set(weights(at - Math.floor(at)), x * 4);
  }
  return (nodes, out) => {
    for (let x = 0, p = 0; x < width; x++, p += 4) {
      const i = first[x] ?? 0;
      out[x] =
        (nodes[i] ?? 0) * (parts[p] ?? 0) +
        (nodes[i + 1] ?? 0) * (parts[p + 1] ?? 0) +
        (nodes[i + 2] ?? 0) * (parts[p + 2] ?? 0) +
        (nodes[i + 3] ?? 0) * (parts[p + 3] ?? 0);
    }
  };
}
