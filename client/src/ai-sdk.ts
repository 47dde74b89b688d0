/** `darkroom-client/ai-sdk`: the models of a Darkroom service for `generateImage` of the package `ai`. */
export { createDarkroom, type DarkroomProvider } from './ai-sdk/provider.ts';
export type { DarkroomImageModel } from './ai-sdk/image-model.ts';
export { DarkroomCallError, type CallErrorData } from './ai-sdk/call-error.ts';
export type { DarkroomImageOptions } from './ai-sdk/order.ts';
export type {
  CallOptions,
  CallResult,
  CallWarning,
  ImageFile,
  ImageMetadata,
} from './ai-sdk/specification.ts';
