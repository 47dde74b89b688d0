/**
 * The client of the Darkroom API.
 *
 * @example
 * ```ts
 * import { Darkroom } from 'darkroom-client';
 *
 * const darkroom = new Darkroom(); // DARKROOM_API_KEY, DARKROOM_BASE_URL
 * const done = await darkroom.images.generateAndWait({ model: 'sandbox-sketch', prompt: 'a lake at dawn' });
 * const image = await darkroom.results.download(done);
 * console.log(image.type); // image/png
 * ```
 *
 * @module
 */
export { Darkroom } from './darkroom.ts';
export type { DarkroomOptions } from './options.ts';
export * from './errors.ts';
export type { Retry } from './http/retry.ts';
export type { UserTokenSource } from './http/user-token.ts';
export type { UserTokenOrder } from './resources/user-tokens.ts';
export { type ApiPromise, type CallOptions, type PostOptions, version } from './http/call.ts';
export type { Page, Pages } from './pages.ts';
export type {
  Creations,
  GenerateAndWaitOptions,
  GenerateOptions,
  OneImage,
  SeveralImages,
} from './resources/images.ts';
export type { CreationFilter, WaitOptions } from './resources/creations.ts';
export type { RequestFilter } from './resources/requests.ts';
export type { EventQuery, FollowOptions } from './resources/events.ts';
export type { ImageSource, UploadOptions } from './resources/transfers.ts';
export type * from './types/generated.ts';
