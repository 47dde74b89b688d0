/**
 * What each provider does with the fields of a request that only some vendors honour. Types ask every provider for
 * every field. test/vendors/whole/honoured.test.ts compares this with the catalog, and reads at the fakes what came.
 */
import type { Route } from '../../service/catalog/catalog-schema.ts';
import { mostNegativePrompt } from '../../service/catalog/catalog.ts';
import { tiers } from '../../service/contract/request-fields.ts';
import type { FleetName } from './fleet.ts';

export const rareFields = ['negative_prompt', 'quality'] as const;
export type RareName = (typeof rareFields)[number];

/** Whether the catalog offers the field at the route. */
export const isOffered: Readonly<Record<RareName, (route: Route) => boolean>> = {
  negative_prompt: (route) => mostNegativePrompt([route]) > 0,
  quality: ({ quality, qualities = [] }) =>
    tiers.some((tier) => tier === quality || qualities.includes(tier)),
};

/** Why no route of the provider is offered for the field. */
export type Honoured = 'honoured' | { readonly refused: string };

const unknown: Honoured = {
  refused: 'The pages of the vendor name no such field for the models that are sold.',
};

const oneQuality: Honoured = {
  refused: 'Each model that is sold has one quality, and the request no field for it.',
};
const ownQuality: Honoured = { refused: 'The server has no qualities: its model or workflow fixes them.' };

export const honoured: Readonly<Record<FleetName, Readonly<Record<RareName, Honoured>>>> = {
  bedrock: { negative_prompt: 'honoured', quality: oneQuality },
  openai: { negative_prompt: unknown, quality: 'honoured' },
  google: { negative_prompt: unknown, quality: oneQuality },
  bfl: { negative_prompt: { refused: 'FLUX.2 has no negative prompts.' }, quality: oneQuality },
  fal: { negative_prompt: unknown, quality: 'honoured' },
  replicate: { negative_prompt: unknown, quality: oneQuality },
  alibaba: { negative_prompt: 'honoured', quality: oneQuality },
  ideogram: { negative_prompt: unknown, quality: 'honoured' },
  xai: { negative_prompt: unknown, quality: 'honoured' },
  recraft: { negative_prompt: { refused: 'Only models before V4 take one.' }, quality: oneQuality },
  byteplus: { negative_prompt: unknown, quality: oneQuality },
  comfyui: { negative_prompt: 'honoured', quality: ownQuality },
  gpu: { negative_prompt: 'honoured', quality: ownQuality },
  sglang: { negative_prompt: 'honoured', quality: ownQuality },
  localai: {
    negative_prompt: { refused: 'A "|" in the prompt begins it, so a text of the client could end it.' },
    quality: ownQuality,
  },
  proxy: {
    negative_prompt: { refused: 'It depends on the model behind the proxy: an operator names the field.' },
    quality: 'honoured',
  },
};
