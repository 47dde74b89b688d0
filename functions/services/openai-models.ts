import type { Aliases } from '../../core/openai/aliases.ts';
import type { BeforeCatalog } from '../../core/sold-catalog.ts';
import { catalogServices, type CatalogServices } from './api.ts';
import { environment } from './environment.ts';
import type { OpenServices } from './open.ts';

/** For the OpenAI-shaped list of models. */
export interface OpenaiModelServices extends CatalogServices {
  readonly aliases: Aliases;
}

export function openaiModelServices(): OpenServices<BeforeCatalog<OpenaiModelServices>> {
  const open = catalogServices();
  const aliases = openaiAliases();
  return () => ({ ...open(), aliases });
}

/** As the stack writes them. */
export function openaiAliases(): Aliases {
  return JSON.parse(environment('OPENAI_ALIASES')) as Aliases;
}
