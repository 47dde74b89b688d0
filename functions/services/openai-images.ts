import { heldRequestMillis } from '../../core/limits.ts';
import type { Aliases } from '../../core/openai/aliases.ts';
import { table } from './clients.ts';
import { openaiAliases } from './openai-models.ts';
import type { OpenServices } from './open.ts';
import { submitServices, type SubmitServices } from './submit.ts';

/** For the OpenAI-shaped operations that charge, and hold the request until the pictures are there. */
export interface OpenaiImageServices extends SubmitServices {
  readonly aliases: Aliases;
}

export function openaiImageServices(): OpenServices<OpenaiImageServices> {
  const shared = table();
  const open = submitServices(shared, heldRequestMillis);
  const aliases = openaiAliases();
  return () => ({ ...open(), aliases });
}
