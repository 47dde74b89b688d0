import { type CatalogPlatform, catalogsOf, openApiWith } from '../api/open.ts';
import type { AfterCatalog } from '../catalog/sold-catalog.ts';
import type { ServicesOf } from '../platform/opener.ts';
import type { On } from '../platform/platform.ts';
import type { Aliases } from './fields.ts';

/** For the OpenAI-shaped list of models. */
export type OpenaiModelServices = AfterCatalog<ServicesOf<typeof openOpenaiModels>>;

export function openOpenaiModels(on: CatalogPlatform) {
  const catalogs = catalogsOf(on);
  const aliases = aliasesOf(on);
  return openApiWith(on, (store) => ({ catalogs: catalogs(store), aliases }));
}

/** As the stack writes them. */
export function aliasesOf({ environment }: On): Aliases {
  return JSON.parse(environment('OPENAI_ALIASES')) as Aliases;
}
