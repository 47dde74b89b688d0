import { type CatalogPlatform, catalogsOf, openApiWith } from '../api/open.ts';
import type { AfterCatalog } from '../catalog/sold-catalog.ts';
import { heldRequestMillis } from '../contract/limits.ts';
import { createRetryStore } from '../creations/retry-store.ts';
import { charging, type SubmitPlatform } from '../generate/open.ts';
import type { ServicesOf } from '../platform/common.ts';
import type { On } from '../platform/platform.ts';
import type { Aliases } from './fields.ts';

export type OpenaiModelServices = AfterCatalog<ServicesOf<typeof openOpenaiModels>>;

export function openOpenaiModels(on: CatalogPlatform) {
  const catalogs = catalogsOf(on);
  const aliases = aliasesOf(on);
  return openApiWith(on, (store) => ({ catalogs: catalogs(store), aliases }));
}

/** As the stack writes them. */
function aliasesOf({ environment }: On): Aliases {
  return JSON.parse(environment('OPENAI_ALIASES')) as Aliases;
}

/** For the OpenAI-shaped operations that charge, and hold the request until the pictures are there. */
export type OpenaiImageServices = AfterCatalog<ServicesOf<typeof openOpenaiImages>>;

export function openOpenaiImages(on: SubmitPlatform) {
  const charge = charging(on, 'images', Number(on.environment('HELD_LIMIT')));
  const aliases = aliasesOf(on);
  const addresses = { api: on.environment('API_URL'), portal: on.environment('PORTAL_URL') };
  return openApiWith(
    on,
    (store, api) => ({ ...charge(store, api), aliases, addresses, retries: createRetryStore(store) }),
    heldRequestMillis,
  );
}
