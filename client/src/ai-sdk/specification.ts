/**
 * What `generateImage` of the package `ai` (version 7) gives an image model, and what it takes back: version 4
 * of its specification. These types are written here, so that a program without `ai` compiles, too.
 */

/** A source image: its bytes, its base64, or its address. */
export type ImageFile =
  | { readonly type: 'file'; readonly mediaType: string; readonly data: string | Uint8Array }
  | { readonly type: 'url'; readonly url: string };

/** The call that `generateImage` makes. */
export interface CallOptions {
  readonly prompt: string | undefined;
  readonly n: number;
  readonly size: `${number}x${number}` | undefined;
  readonly aspectRatio: `${number}:${number}` | undefined;
  readonly seed: number | undefined;
  readonly files: readonly ImageFile[] | undefined;
  readonly mask: ImageFile | undefined;
  /** By the name of a provider: its own fields. */
  readonly providerOptions: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
  readonly abortSignal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Warns the program that a picture is not exactly what it asked for. */
export type CallWarning =
  | { type: 'unsupported'; feature: string; details?: string }
  | { type: 'compatibility'; feature: string; details?: string }
  | { type: 'other'; message: string };

/** What is known of one picture: `providerMetadata.darkroom.images[i]` of the result. */
// An interface would not be the JSON that `ai` asks for.
// oxlint-disable-next-line typescript/consistent-type-definitions
export type ImageMetadata = {
  creationId: string;
  /** In USD. */
  cost: number;
  url: string;
  width: number;
  height: number;
  bytes: number;
};

export interface CallResult {
  images: Uint8Array[];
  warnings: CallWarning[];
  providerMetadata: { darkroom: { images: ImageMetadata[] } };
  response: { timestamp: Date; modelId: string; headers: Record<string, string> | undefined };
}
