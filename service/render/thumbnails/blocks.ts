/** What decoder and encoder of JPEG share: blocks of 8 by 8. */

/** Where the zigzag of a block leads (ITU T.81, figure 5). */
export const zigzag = Uint8Array.from([
  ...[0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6],
  ...[7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31],
  ...[39, 46, 53, 60, 61, 54, 47, 55, 62, 63],
]);

/** The cosine transform with `edge` points, by point and frequency. With fewer points than 8 it makes a small picture. */
export function waves(edge: number): Float32Array {
  return Float32Array.from({ length: edge * edge }, (_, i) => {
    const [x, u] = [Math.floor(i / edge), i % edge];
    return u === 0 ? Math.SQRT1_2 / 2 : Math.cos(((2 * x + 1) * u * Math.PI) / (2 * edge)) / 2;
  });
}
