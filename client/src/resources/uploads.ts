import { DarkroomError } from '../errors.ts';
import { apiPromise, type ApiPromise, type Answered } from '../http/api-promise.ts';
import type { PostOptions } from '../http/call-options.ts';
import type { Transport } from '../http/transport.ts';
import { imageTypeOf, typeLength, type ImageType } from '../image-type.ts';
import type { Upload } from '../types/index.ts';

/** An image in memory, or a file: a File of a form, or `openAsBlob()` of `node:fs`. */
export type ImageSource = Blob | ArrayBuffer | ArrayBufferView;

/** Options of an upload. */
export interface UploadOptions extends PostOptions {
  /** Instead of the type that the first bytes show. */
  readonly contentType?: ImageType | undefined;
}

/** Brings images to the service. */
export class UploadCalls {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Uploads an image (PNG, JPEG or WebP), and gives its entry for `image_urls`. The entry can be used for 24
   * hours, in several requests. Nothing is charged.
   *
   * @example
   * ```ts
   * import { openAsBlob } from 'node:fs';
   *
   * const lake = await darkroom.uploads.create(await openAsBlob('lake.png'));
   * const quote = await darkroom.images.quote({ model: 'sandbox-standard', prompt: 'in winter', image_urls: [lake] });
   * console.log(quote.input_images); // 1
   * ```
   */
  create(source: ImageSource, options: UploadOptions = {}): ApiPromise<string> {
    return apiPromise(this.#create(source, options));
  }

  async #create(source: ImageSource, { contentType, ...options }: UploadOptions): Promise<Answered<string>> {
    const blob = source instanceof Blob ? source : new Blob([source as BlobPart]);
    const head = new Uint8Array(await blob.slice(0, typeLength).arrayBuffer());
    const type = contentType ?? imageTypeOf(head);
    if (type === undefined) throw new DarkroomError('The file is no PNG, JPEG or WebP image.');
    const { value, response } = await this.#transport.answer<Upload>({
      method: 'POST',
      path: '/uploads',
      body: { content_type: type, bytes: blob.size },
      options,
    });
    await this.#transport.foreign({
      url: value.upload_url,
      method: 'PUT',
      headers: sendable(value.upload_headers),
      body: blob.slice(0, blob.size, type),
      options,
    });
    return { value: value.image_url, response };
  }
}

/** fetch sets the length itself, and refuses the header. */
function sendable(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-length'),
  );
}
