import { DarkroomError, UnexpectedAnswer } from '../errors.ts';
import type { CallOptions } from '../http/call-options.ts';
import type { Transport } from '../http/transport.ts';
import type { Creation, CreationResult } from '../types/index.ts';

/** Downloads images. */
export class ResultCalls {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
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
    const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
    if (type !== result.content_type || bytes.byteLength !== result.bytes) {
      throw new UnexpectedAnswer(
        {
          status: response.status,
          code: 'UNEXPECTED_ANSWER',
          message:
            `The image should have ${result.bytes} bytes of ${result.content_type}. ` +
            `${bytes.byteLength} bytes of ${type === '' ? 'no type' : type} arrived.`,
          details: {},
          requestId: undefined,
          retryAfter: undefined,
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
