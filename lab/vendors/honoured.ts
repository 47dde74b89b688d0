/**
 * What each provider does with the fields of a request that only some vendors honour. Types ask every provider for
 * every field. test/vendors/whole/honoured.test.ts compares this with the catalog, and reads at the fakes what came.
 */
import type { Route } from '../../service/catalog/catalog-schema.ts';
import { mostNegativePrompt } from '../../service/catalog/catalog.ts';
import type { FleetName } from './fleet.ts';

export const rareFields = ['negative_prompt'] as const;
export type RareName = (typeof rareFields)[number];

/** Whether the catalog offers the field at the route. */
export const isOffered: Readonly<Record<RareName, (route: Route) => boolean>> = {
  negative_prompt: (route) => mostNegativePrompt([route]) > 0,
};

/** Why no route of the provider is offered for the field. */
export type Honoured = 'honoured' | { readonly refused: string };

const unknown: Honoured = {
  refused: 'The pages of the vendor name no such field for the models that are sold.',
};

export const honoured: Readonly<Record<FleetName, Readonly<Record<RareName, Honoured>>>> = {
  bedrock: { negative_prompt: 'honoured' },
  openai: { negative_prompt: unknown },
  google: { negative_prompt: unknown },
  bfl: { negative_prompt: { refused: 'FLUX.2 has no negative prompts.' } },
  fal: { negative_prompt: unknown },
  replicate: { negative_prompt: unknown },
  alibaba: { negative_prompt: 'honoured' },
  ideogram: { negative_prompt: unknown },
  xai: { negative_prompt: unknown },
  recraft: { negative_prompt: { refused: 'Only models before V4 take one.' } },
  byteplus: { negative_prompt: unknown },
  comfyui: { negative_prompt: 'honoured' },
  gpu: { negative_prompt: 'honoured' },
  sglang: { negative_prompt: 'honoured' },
  localai: {
    negative_prompt: { refused: 'A "|" in the prompt begins it, so a text of the client could end it.' },
  },
  proxy: {
    negative_prompt: { refused: 'It depends on the model behind the proxy: an operator names the field.' },
  },
};
