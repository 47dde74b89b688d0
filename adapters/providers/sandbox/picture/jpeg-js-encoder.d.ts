/** jpeg-js ships types for its index only, and the index brings the decoder along. */
declare module 'jpeg-js/lib/encoder.js' {
  export default function encode(
    image: { data: Uint8Array; width: number; height: number },
    quality: number,
  ): { data: Buffer; width: number; height: number };
}
