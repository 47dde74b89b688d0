/**
 * In the bundles, @smithy/core/checksum without the hashes in plain JavaScript, which the SDK holds for a Node
 * without OpenSSL. The signer hashes with this class.
 */
import { createHash, createHmac } from './crypto.ts';

type Hashing = ReturnType<typeof createHash> | ReturnType<typeof createHmac>;
type Bytes = string | ArrayBuffer | ArrayBufferView;

export class Sha256 {
  readonly digestLength = 32;
  readonly #secret: Buffer | string | undefined;
  #hash: Hashing;

  constructor(secret?: Bytes) {
    this.#secret = secret === undefined ? undefined : bufferOf(secret);
    this.#hash = this.#begin();
  }

  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.#hash.digest()));
  }

  reset(): void {
    this.#hash = this.#begin();
  }

  #begin(): Hashing {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', this.#secret);
  }
}

function bufferOf(data: Bytes): Buffer | string {
  if (typeof data === 'string') return data;
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data);
}
