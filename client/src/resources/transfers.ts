import { DarkroomError, UnexpectedAnswer } from '../errors.ts';
import {
  type Answered,
  apiPromise,
  type ApiPromise,
  type CallOptions,
  type PostOptions,
} from '../http/call.ts';
import type { Transport } from '../http/transport.ts';
import type { Creation, CreationResult, Upload } from '../types/generated.ts';
import { BucketCalls } from './bucket.ts';

/** The type of an image by its first bytes. */

type ImageType = 'image/png' | 'image/jpeg' | 'image/webp';

/** The first bytes of a file: PNG (RFC 2083), JPEG (T.81), WebP (RFC 9649). */
const beginnings: readonly {
  readonly type: ImageType;
  readonly parts: readonly (readonly [number, string])[];
}[] = [
  { type: 'image/png', parts: [[0, '\x89PNG\r\n\x1a\n']] },
  { type: 'image/jpeg', parts: [[0, '\xff\xd8\xff']] },
  {
    type: 'image/webp',
    parts: [
      [0, 'RIFF'],
      [8, 'WEBP'],
    ],
  },
];

/** As many bytes as the longest beginning has. */
const typeLength = 12;

function imageTypeOf(bytes: Uint8Array): ImageType | undefined {
  const text = String.fromCharCode(...bytes.subarray(0, typeLength));
  return beginnings.find(({ parts }) => parts.every(([at, part]) => text.startsWith(part, at)))?.type;
}

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
   * Uploads an image (PNG, JPEG or WebP), and returns its entry for `image_urls`. The entry can be used for
   * 24 hours, in several requests. Nothing is charged.
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
    // A view as well. The types of Node and of browsers have no common name for what a Blob takes.
    const blob = source instanceof Blob ? source : new Blob([source as ArrayBuffer]);
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
      headers: value.upload_headers,
      body: blob.slice(0, blob.size, type),
      options,
    });
    return { value: value.image_url, response };
  }
}

/** Downloads images. */
export class ResultCalls {
  readonly #transport: Transport;
  /** The bucket of your own that gets a copy of each image. */
  readonly bucket: BucketCalls;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
    this.bucket = new BucketCalls(transport);
  }

  /**
   * The image of a result as a Blob. A creation stands for its first result. The type and the length of the
   * answer must be those of the result. The address needs no key, and gets none.
   *
   * @example
   * ```ts
   * const done = await darkroom.images.generateAndWait({ model: 'sandbox-sketch', prompt: 'a lake' });
   * const image = await darkroom.results.download(done);
   * console.log(image.type, image.size === done.results[0]?.bytes); // image/png true
   * ```
   */
  async download(from: CreationResult | Creation | undefined, options: CallOptions = {}): Promise<Blob> {
    const result = from !== undefined && 'id' in from ? firstOf(from) : from;
    if (!result) {
      throw new DarkroomError(
        'There is no image: the creation has not completed, or its results have expired.',
      );
    }
    const { response, bytes } = await this.#transport.foreign({ url: result.url, method: 'GET', options });
    const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() || 'no type';
    if (type !== result.content_type || bytes.byteLength !== result.bytes) {
      throw new UnexpectedAnswer(
        {
          status: response.status,
          message:
            `The image should have ${result.bytes} bytes of ${result.content_type}. ` +
            `${bytes.byteLength} bytes of ${type} arrived.`,
        },
        '',
      );
    }
    return new Blob([bytes], { type });
  }
}

function firstOf(creation: Creation): CreationResult | undefined {
  return creation.status === 'completed' ? creation.results[0] : undefined;
}
