import type { Frame } from './frame.ts';

/**
 * A smooth quantity over the picture. A coarse grid holds its values, and readers get a value for each pixel.
 */
export interface Field {
  /**
   * Writes the quantity of one pixel row to `out`, one number for each pixel. `y` is the place of the row in
   * pixels from the top, and may have a fraction.
   */
  readRow(y: number, out: Float32Array): void;
}

/**
 * Evaluates `at` on a coarse grid, and fills the space between the nodes with cubic B-splines. These splines
 * are smooth to the second derivative. So light that follows the slope of the field shows no flat faces. `at`
 * gets `x` and `y` in units of the frame.
 *
 * @param nodes how many nodes the grid has along the longer side of the picture
 */
export function fieldOf(frame: Frame, nodes: number, at: (x: number, y: number) => number): Field {
  const longer = Math.max(frame.width, frame.height);
  // More than one node for two pixels would make no visible difference in a small picture.
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

/** The weights of the four nearest nodes, at a fraction of the way from one node to the next. */
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
