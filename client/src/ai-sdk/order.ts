/** Makes the request of the API from the call of `generateImage`. */
import { DarkroomError } from '../errors.ts';
import type { AspectRatio, ImageRequest, Model } from '../types/index.ts';
import { fittingResolution, nearestRatio, sideOf } from './size.ts';
import type { CallOptions, CallWarning } from './specification.ts';

/**
 * `providerOptions.darkroom`: every field of a request of the API that `generateImage` has no name for, and
 * two options of the client library.
 *
 * @example
 * ```ts
 * import type { DarkroomImageOptions } from 'darkroom-client/ai-sdk';
 *
 * const options: DarkroomImageOptions = { resolution: '2K', max_cost: 0.1, metadata: { order: '4711' } };
 * console.log(JSON.stringify(options)); // {"resolution":"2K","max_cost":0.1,"metadata":{"order":"4711"}}
 * ```
 */
// An interface would not be the JSON that `ai` asks for.
// oxlint-disable-next-line typescript/consistent-type-definitions
export type DarkroomImageOptions = {
  resolution?: NonNullable<ImageRequest['resolution']>;
  output_format?: NonNullable<ImageRequest['output_format']>;
  metadata?: Record<string, string>;
  /** For whom you render. */
  user?: string;
  /** The most that each image may cost, in USD. */
  max_cost?: number;
  webhook_url?: string;
  /** The call is paid once, however often it is made with this key. */
  idempotencyKey?: string;
  /** For how many milliseconds to wait for an image: 300,000 by default. */
  timeoutMs?: number;
};

export interface Order {
  /** Without its source images. */
  readonly request: ImageRequest;
  readonly idempotencyKey: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly warnings: readonly CallWarning[];
}

/** The header in which a program can name the key, as in a request of its own. */
const keyHeader = 'idempotency-key';
/** `ai` names itself in this header. */
const ownHeaders: readonly string[] = [keyHeader, 'user-agent'];

/** @param model reads what the model offers; it is asked only for a size */
export async function orderOf(
  call: CallOptions,
  modelId: string,
  model: () => Promise<Model | undefined>,
): Promise<Order> {
  const { prompt, seed, aspectRatio, headers = {} } = call;
  const { idempotencyKey, timeoutMs, ...own } = call.providerOptions['darkroom'] ?? {};
  const given = Object.entries(headers).filter(([, value]) => value !== undefined);
  const keyOfHeader = given.find(([name]) => name.toLowerCase() === keyHeader)?.[1];
  const foreign = given.map(([name]) => name).filter((name) => !ownHeaders.includes(name.toLowerCase()));
  const request = {
    model: modelId,
    ...(prompt !== undefined && { prompt }),
    ...(await formOf(call, model)),
    ...(aspectRatio !== undefined && { aspect_ratio: aspectRatio as AspectRatio }),
    ...(seed !== undefined && { seed }),
    // The service refuses a field that it does not have, and says so.
    ...own,
  };
  return {
    request,
    idempotencyKey: (idempotencyKey as string | undefined) ?? keyOfHeader,
    timeoutMs: timeoutMs as number | undefined,
    warnings:
      foreign.length === 0
        ? []
        : [{ type: 'unsupported', feature: 'headers', details: `Not sent: ${foreign.join(', ')}.` }],
  };
}

/** The ratio and the resolution that come nearest to the size. */
async function formOf(
  { size }: CallOptions,
  model: () => Promise<Model | undefined>,
): Promise<Pick<ImageRequest, 'aspect_ratio' | 'resolution'>> {
  if (size === undefined) return {};
  const side = sideOf(size);
  if (!side) throw new DarkroomError(`A size is WIDTHxHEIGHT in pixels, and not ${size}.`);
  const offered = await model();
  // The service says that there is no such model.
  if (!offered) return {};
  const ratio = nearestRatio(side, offered);
  const resolution = fittingResolution(side, offered);
  return { ...(ratio && { aspect_ratio: ratio }), ...(resolution && { resolution }) };
}
