import { createRetryStore } from '../../adapters/dynamodb/retry-store.ts';
import { heldRequestMillis } from '../../core/limits.ts';
import type { Aliases } from '../../core/openai/aliases.ts';
import type { RetryStore } from '../../core/ports/retries.ts';
import type { BeforeCatalog } from '../../core/sold-catalog.ts';
import { table } from './clients.ts';
import { openaiAliases } from './openai-models.ts';
import type { OpenServices } from './open.ts';
import { submitServices, type SubmitServices } from './submit.ts';

/** For the OpenAI-shaped operations that charge, and hold the request until the pictures are there. */
export interface OpenaiImageServices extends SubmitServices {
  readonly aliases: Aliases;
  readonly retries: RetryStore;
}

export function openaiImageServices(): OpenServices<BeforeCatalog<OpenaiImageServices>> {
  const shared = table();
  const open = submitServices(shared, 'images', heldRequestMillis);
  const aliases = openaiAliases();
  return () => {
    const submit = open();
    return { ...submit, aliases, retries: createRetryStore({ ...shared, signal: submit.budget.signal }) };
  };
}
