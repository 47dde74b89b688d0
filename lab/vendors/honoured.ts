/**
 * What each provider does with the fields of a request that only some vendors honour. Types ask every provider for
 * every field. test/vendors/whole/honoured.test.ts compares this with the catalog, and reads at the fakes what came.
 */
import type { Route } from '../../service/catalog/catalog-schema.ts';
import { mostNegativePrompt, rendersTransparent, takesMask } from '../../service/catalog/catalog.ts';
import { tiers } from '../../service/contract/request-fields.ts';
import type { FleetName } from './fleet.ts';

export const rareFields = ['negative_prompt', 'quality', 'background', 'mask_url'] as const;
export type RareName = (typeof rareFields)[number];

/** Whether the catalog offers the field at the route. */
export const isOffered: Readonly<Record<RareName, (route: Route) => boolean>> = {
  negative_prompt: (route) => mostNegativePrompt([route]) > 0,
  quality: ({ quality, qualities = [] }) =>
    tiers.some((tier) => tier === quality || qualities.includes(tier)),
  background: (route) => rendersTransparent([route]),
  mask_url: (route) => takesMask([route]),
};

/** Why no route of the provider is offered for the field. */
export type Honoured = 'honoured' | { readonly refused: string };

const unknown: Honoured = {
  refused: 'The pages of the vendor name no such field for the models that are sold.',
};

const oneQuality: Honoured = {
  refused: 'Each model that is sold has one quality, and the request no field for it.',
};
const alwaysOpaque: Honoured = {
  refused: 'The pages of the vendor name no field for the background of the models that are sold.',
};
const onlyJpeg: Honoured = { refused: 'The models that are sold answer as JPEG, which has no opacities.' };
const repainted: Honoured = {
  refused: 'The vendor takes a mask as a hint and paints the whole picture anew, also what it protects.',
};
const maskless: Honoured = { refused: 'The pages of the vendor name no mask for the models that are sold.' };
const ownMask: Honoured = {
  refused: 'It depends on the model behind the server: an operator names the part of the form for the mask.',
};
const ownQuality: Honoured = { refused: 'The server has no qualities: its model or workflow fixes them.' };

export const honoured: Readonly<Record<FleetName, Readonly<Record<RareName, Honoured>>>> = {
  bedrock: { negative_prompt: 'honoured', quality: oneQuality, background: alwaysOpaque, mask_url: maskless },
  openai: { negative_prompt: unknown, quality: 'honoured', background: 'honoured', mask_url: repainted },
  google: { negative_prompt: unknown, quality: oneQuality, background: onlyJpeg, mask_url: maskless },
  bfl: {
    negative_prompt: { refused: 'FLUX.2 has no negative prompts.' },
    quality: oneQuality,
    background: alwaysOpaque,
    mask_url: maskless,
  },
  fal: { negative_prompt: unknown, quality: 'honoured', background: alwaysOpaque, mask_url: maskless },
  replicate: { negative_prompt: unknown, quality: oneQuality, background: alwaysOpaque, mask_url: maskless },
  alibaba: { negative_prompt: 'honoured', quality: oneQuality, background: alwaysOpaque, mask_url: maskless },
  ideogram: { negative_prompt: unknown, quality: 'honoured', background: alwaysOpaque, mask_url: maskless },
  xai: { negative_prompt: unknown, quality: 'honoured', background: onlyJpeg, mask_url: maskless },
  recraft: {
    negative_prompt: { refused: 'Only models before V4 take one.' },
    quality: oneQuality,
    background: alwaysOpaque,
    mask_url: maskless,
  },
  byteplus: { negative_prompt: unknown, quality: oneQuality, background: onlyJpeg, mask_url: maskless },
  comfyui: {
    negative_prompt: 'honoured',
    quality: ownQuality,
    background: alwaysOpaque,
    mask_url: 'honoured',
  },
  gpu: { negative_prompt: 'honoured', quality: ownQuality, background: alwaysOpaque, mask_url: ownMask },
  sglang: { negative_prompt: 'honoured', quality: ownQuality, background: alwaysOpaque, mask_url: ownMask },
  localai: {
    negative_prompt: { refused: 'A "|" in the prompt begins it, so a text of the client could end it.' },
    quality: ownQuality,
    background: alwaysOpaque,
    mask_url: { refused: 'Its edits are JSON, which has no place for a mask.' },
  },
  proxy: {
    negative_prompt: { refused: 'It depends on the model behind the proxy: an operator names the field.' },
    quality: 'honoured',
    background: 'honoured',
    mask_url: 'honoured',
  },
};
