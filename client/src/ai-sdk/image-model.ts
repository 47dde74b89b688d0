/** An image model of version 4 of the specification of `ai`, over the calls of the client library. */
import type { Darkroom } from '../darkroom.ts';
import { DarkroomError } from '../errors.ts';
import type { CompletedCreation, ImageRequest, Model } from '../types/generated.ts';
import { DarkroomCallError, mayRepeat } from './call-error.ts';
import { type Order, orderOf, type SourceFiles } from './order.ts';
import type { CallOptions, CallResult, CallWarning, ImageMetadata } from './specification.ts';

/** How many pictures of one call are rendered at the same time. */
const atOnce = 10;

/** What the models of one provider share. */
export interface Shared {
  readonly darkroom: Darkroom;
  readonly files: SourceFiles;
  /** Reads the model from the catalog. Undefined when the account has no such model. */
  readonly offered: (modelId: string, signal?: AbortSignal) => Promise<Model | undefined>;
  readonly now: () => number;
}

interface Picture {
  readonly image: Uint8Array;
  readonly metadata: ImageMetadata;
}

/** `image(id)` of createDarkroom() makes it. Give it to `generateImage` as `model`. */
export class DarkroomImageModel {
  readonly specificationVersion: 'v4' = 'v4' as const;
  readonly provider: string = 'darkroom';
  readonly modelId: string;
  /** `ai` throws all pictures of a call away when one of several calls fails. So it makes one call. */
  readonly maxImagesPerCall: number = Number.MAX_SAFE_INTEGER;
  readonly supportsMaskInputs: boolean = false;
  readonly #shared: Shared;

  /** @internal */
  constructor(modelId: string, shared: Shared) {
    this.modelId = modelId;
    this.#shared = shared;
  }

  /** Whether the model takes source images, as GET /models says. Undefined when that cannot be read. */
  get supportsFileInputs(): Promise<boolean | undefined> {
    return this.#shared.offered(this.modelId).then(
      (model) => model && model.max_image_urls > 0,
      () => undefined,
    );
  }

  /**
   * Renders `n` pictures, each by a creation of its own. Pictures that fail are refunded and named in a
   * warning. When all fail, the first error is thrown as a DarkroomCallError.
   */
  async doGenerate(call: CallOptions): Promise<CallResult> {
    const began = this.#shared.now();
    const { abortSignal } = call;
    const order = await this.#free(call, async () => this.#orderOf(call));
    const settled = await inLanes(call.n, async (index) => this.#picture(order, index, abortSignal));
    abortSignal?.throwIfAborted();
    const pictures = settled.filter((one): one is Picture => !(one instanceof Failure));
    const failures = settled.filter((one): one is Failure => one instanceof Failure);
    const [first] = failures;
    if (pictures.length === 0 && first) {
      const isRetryable = failures.every(({ error }) => mayRepeat(error, order.idempotencyKey !== undefined));
      throw this.#thrown(first, order.request, isRetryable);
    }
    return {
      images: pictures.map(({ image }) => image),
      warnings: [...order.warnings, ...sizeWarnings(call, pictures), ...missing(call.n, failures)],
      providerMetadata: { darkroom: { images: pictures.map(({ metadata }) => metadata) } },
      response: { timestamp: new Date(began), modelId: this.modelId, headers: undefined },
    };
  }

  async #orderOf(call: CallOptions): Promise<Order> {
    const { files = [], abortSignal } = call;
    if (call.mask) throw new DarkroomError('This provider sends no mask. Use images.generate with mask_url.');
    const order = await orderOf(call, this.modelId, async () =>
      this.#shared.offered(this.modelId, abortSignal),
    );
    if (files.length === 0) return order;
    const addresses = await Promise.all(
      files.map(async (file) => this.#shared.files.addressOf(file, abortSignal)),
    );
    return { ...order, request: { ...order.request, image_urls: addresses } };
  }

  /** Everything before the first charge. An error of it may be repeated whenever that makes sense. */
  async #free<Value>({ abortSignal, prompt, size }: CallOptions, work: () => Promise<Value>): Promise<Value> {
    try {
      return await work();
    } catch (error) {
      abortSignal?.throwIfAborted();
      throw this.#thrown(new Failure(error), { prompt, size }, mayRepeat(error, true));
    }
  }

  async #picture(order: Order, index: number, signal: AbortSignal | undefined): Promise<Picture | Failure> {
    const { darkroom } = this.#shared;
    const { request, timeoutMs, idempotencyKey } = order;
    // How many is the `n` of the call.
    const { count: _count, ...single } = request;
    let creationId: string | undefined;
    try {
      const done = await darkroom.images.generateAndWait(single, {
        signal,
        timeoutMs,
        idempotencyKey: idempotencyKey === undefined ? undefined : keyOf(idempotencyKey, index),
      });
      creationId = done.id;
      const image = await darkroom.results.download(done, { signal });
      return { image: new Uint8Array(await image.arrayBuffer()), metadata: metadataOf(done) };
    } catch (error) {
      return new Failure(error, creationId);
    }
  }

  #thrown({ error, creationId }: Failure, request: ImageRequest | object, isRetryable: boolean): unknown {
    if (!(error instanceof DarkroomError)) return error;
    const url = `${this.#shared.darkroom.baseUrl}/images/generate`;
    return new DarkroomCallError(error, { url, request, isRetryable, creationId });
  }
}

/** The first picture has the key as it is, so that a call of one picture has the key of its request. */
function keyOf(idempotencyKey: string, index: number): string {
  return index === 0 ? idempotencyKey : `${idempotencyKey}-${index + 1}`;
}

function metadataOf({ id, cost, results }: CompletedCreation): ImageMetadata {
  const { url = '', width = 0, height = 0, bytes = 0 } = results[0] ?? {};
  return { creationId: id, cost, url, width, height, bytes };
}

/** A picture that there is not. */
class Failure {
  readonly error: unknown;
  /** The creation, if it has completed and only its picture did not arrive. */
  readonly creationId: string | undefined;

  constructor(error: unknown, creationId?: string) {
    this.error = error;
    this.creationId = creationId;
  }
}

/** Makes `count` pictures, a few at a time, and waits for all of them. */
async function inLanes<Made>(
  count: number,
  make: (index: number) => Promise<Made>,
): Promise<readonly Made[]> {
  const made: Made[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      made[index] = await make(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, atOnce) }, lane));
  return made;
}

function sizeWarnings({ size }: CallOptions, pictures: readonly Picture[]): CallWarning[] {
  const sizes = new Set(pictures.map(({ metadata }) => `${metadata.width}x${metadata.height}`));
  const [real] = sizes;
  if (size === undefined || real === undefined || (sizes.size === 1 && real === size)) return [];
  const details = `The image has ${real} pixels: of what the model renders, this is nearest to ${size}.`;
  return [{ type: 'compatibility', feature: 'size', details }];
}

function missing(count: number, failures: readonly Failure[]): CallWarning[] {
  const [first] = failures;
  if (!first) return [];
  const why = first.error instanceof Error ? first.error.message : String(first.error);
  const which = failures.length === 1 ? '1 image is' : `${failures.length} images are`;
  return [{ type: 'other', message: `${which} missing of ${count}: ${why}` }];
}
