import { createRetryStore } from '../../adapters/dynamodb/retry-store.ts';
import { heldRequestMillis } from '../../core/limits.ts';
import type { AfterCatalog } from '../../core/sold-catalog.ts';
import { openApiWith } from './api.ts';
import type { ServicesOf } from './open.ts';
import { aliasesOf } from './openai-models.ts';
import { charging, type SubmitPlatform } from './submit.ts';

/** For the OpenAI-shaped operations that charge, and hold the request until the pictures are there. */
export type OpenaiImageServices = AfterCatalog<ServicesOf<typeof openOpenaiImages>>;

export function openOpenaiImages(on: SubmitPlatform) {
  const charge = charging(on, 'images', Number(on.environment('HELD_LIMIT')));
  const aliases = aliasesOf(on);
  return openApiWith(
    on,
    (store, api) => ({ ...charge(store, api), aliases, retries: createRetryStore(store) }),
    heldRequestMillis,
  );
}
