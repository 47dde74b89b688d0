/**
 * What each provider does with the fields of a request that only some vendors honour. Types ask every provider for
 * every field. test/vendors/whole/honoured.test.ts compares this with the catalog, and reads at the fakes what came.
 */
import type { Route } from '../../service/catalog/catalog-schema.ts';
import { mostNegativePrompt, rendersTransparent } from '../../service/catalog/catalog.ts';
import { tiers } from '../../service/contract/request-fields.ts';
import type { FleetName } from './fleet.ts';

export const rareFields = ['negative_prompt', 'quality', 'background'] as const;
export type RareName = (typeof rareFields)[number];

/** Whether the catalog offers the field at the route. */
export const isOffered: Readonly<Record<RareName, (route: Route) => boolean>> = {
  negative_prompt: (route) => mostNegativePrompt([route]) > 0,
  quality: ({ quality, qualities = [] }) =>
    tiers.some((tier) => tier === quality || qualities.includes(tier)),
  background: (route) => rendersTransparent([route]),
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
const ownQuality: Honoured = { refused: 'The server has no qualities: its model or workflow fixes them.' };

export const honoured: Readonly<Record<FleetName, Readonly<Record<RareName, Honoured>>>> = {
  bedrock: { negative_prompt: 'honoured', quality: oneQuality, background: alwaysOpaque },
  openai: { negative_prompt: unknown, quality: 'honoured', background: 'honoured' },
  google: { negative_prompt: unknown, quality: oneQuality, background: onlyJpeg },
  bfl: {
    negative_prompt: { refused: 'FLUX.2 has no negative prompts.' },
    quality: oneQuality,
    background: alwaysOpaque,
  },
  fal: { negative_prompt: unknown, quality: 'honoured', background: alwaysOpaque },
  replicate: { negative_prompt: unknown, quality: oneQuality, background: alwaysOpaque },
  alibaba: { negative_prompt: 'honoured', quality: oneQuality, background: alwaysOpaque },
  ideogram: { negative_prompt: unknown, quality: 'honoured', background: alwaysOpaque },
  xai: { negative_prompt: unknown, quality: 'honoured', background: onlyJpeg },
  recraft: {
    negative_prompt: { refused: 'Only models before V4 take one.' },
    quality: oneQuality,
    background: alwaysOpaque,
  },
  byteplus: { negative_prompt: unknown, quality: oneQuality, background: onlyJpeg },
  comfyui: { negative_prompt: 'honoured', quality: ownQuality, background: alwaysOpaque },
  gpu: { negative_prompt: 'honoured', quality: ownQuality, background: alwaysOpaque },
  sglang: { negative_prompt: 'honoured', quality: ownQuality, background: alwaysOpaque },
  localai: {
    negative_prompt: { refused: 'A "|" in the prompt begins it, so a text of the client could end it.' },
    quality: ownQuality,
    background: alwaysOpaque,
  },
  proxy: {
    negative_prompt: { refused: 'It depends on the model behind the proxy: an operator names the field.' },
    quality: 'honoured',
    background: 'honoured',
  },
};
