/** What is used of the package @jsquash/webp, whose own types need those of a browser. */
declare module '@jsquash/webp/codec/dec/webp_dec.js' {
  export default function createDecoder(options: object): Promise<{
    decode(bytes: Uint8Array): { data: Uint8ClampedArray; width: number; height: number } | null;
  }>;
}
declare module '@jsquash/webp/codec/enc/webp_enc_simd.js' {
  export default function createEncoder(options: object): Promise<{
    encode(
      data: Uint8Array | Uint8ClampedArray,
      width: number,
      height: number,
      options: object,
    ): Uint8Array | null;
  }>;
}

/** The part of WebAssembly that opens a codec. The types of Node lack it. */
declare namespace WebAssembly {
  class Module {
    private readonly code: never;
  }
  class Instance {
    constructor(module: Module, imports: object);
    readonly exports: object;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
}
