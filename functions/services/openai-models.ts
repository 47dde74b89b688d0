import type { Aliases } from '../../core/openai/aliases.ts';
import type { AfterCatalog } from '../../core/sold-catalog.ts';
import { catalogsOf, openApiWith, type CatalogPlatform } from './api.ts';
import type { ServicesOf } from './open.ts';
import type { On } from './platform.ts';

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
