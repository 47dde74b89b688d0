/** The values that a request may name for its image, in the words of the API. */

export const resolutions = ['1K', '2K', '4K'] as const;
export const aspectRatios = [
  '1:1',
  '3:2',
  '2:3',
  '4:3',
  '3:4',
  '5:4',
  '4:5',
  '16:9',
  '9:16',
  '21:9',
] as const;
export const outputFormats = ['png', 'jpeg', 'webp'] as const;

export type Resolution = (typeof resolutions)[number];
export type AspectRatio = (typeof aspectRatios)[number];
export type OutputFormat = (typeof outputFormats)[number];

export const mostPromptLength = 10_000;
export const mostImageUrls = 10;
