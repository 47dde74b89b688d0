/** The package's own types need those of a browser. */
declare module '@jsquash/webp/codec/dec/webp_dec.js' {
  export default function createDecoder(options: { noInitialRun: true; wasmBinary: Uint8Array }): Promise<{
    decode(bytes: Uint8Array): { data: Uint8ClampedArray; width: number; height: number } | null;
  }>;
}
