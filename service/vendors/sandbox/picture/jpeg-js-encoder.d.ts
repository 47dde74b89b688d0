/**
 * jpeg-js has types for its index file only. The index also loads the decoder, which we do not need, so we
 * import the encoder's file and declare its type here.
 */
declare module 'jpeg-js/lib/encoder.js' {
  export default function encode(
    image: { data: Uint8Array; width: number; height: number },
    quality: number,
  ): { data: Buffer; width: number; height: number };
}
