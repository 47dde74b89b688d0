/** jpeg-js types only its index, which loads the decoder too. So we import the encoder's file. */
declare module 'jpeg-js/lib/encoder.js' {
  export default function encode(
    image: { data: Uint8Array; width: number; height: number },
    quality: number,
  ): { data: Buffer; width: number; height: number };
}
