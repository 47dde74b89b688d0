/** Uploads the files of a call. A file that comes again within an hour is not uploaded again. */
import type { Darkroom } from '../darkroom.ts';
import type { ImageFile } from './specification.ts';

interface Uploaded {
  readonly address: string;
  readonly until: number;
}

/** An entry of an upload lasts for a day. */
const keptMillis = 3_600_000;
const mostKept = 100;

/**
 * `ai` makes a call again with the same files. The request is the same only with the same addresses, and a
 * request with an Idempotency-Key must be the same.
 */
export class SourceFiles {
  readonly #darkroom: Darkroom;
  readonly #now: () => number;
  readonly #uploaded = new Map<string, Uploaded>();

  constructor(darkroom: Darkroom, now: () => number) {
    this.#darkroom = darkroom;
    this.#now = now;
  }

  /** The entry for `image_urls`. */
  async addressOf(file: ImageFile, signal: AbortSignal | undefined): Promise<string> {
    if (file.type === 'url') return file.url;
    const bytes = typeof file.data === 'string' ? bytesOf(file.data) : file.data;
    const digest = await crypto.subtle.digest('SHA-256', bytes as BufferSource);
    const name = String.fromCharCode(...new Uint8Array(digest));
    const known = this.#uploaded.get(name);
    if (known && known.until > this.#now()) return known.address;
    const address = await this.#darkroom.uploads.create(bytes, { signal });
    this.#keep(name, { address, until: this.#now() + keptMillis });
    return address;
  }

  #keep(name: string, uploaded: Uploaded): void {
    this.#uploaded.delete(name);
    this.#uploaded.set(name, uploaded);
    const [oldest] = this.#uploaded.keys();
    if (this.#uploaded.size > mostKept && oldest !== undefined) this.#uploaded.delete(oldest);
  }
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
