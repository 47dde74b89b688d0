import { quoteImage } from '../../operations/generate/quote-image.ts';
import { withCatalog } from '../../http/with-catalog.ts';
import type { GenerateServices } from '../../services/portal-generate.ts';
import type { PortalHandle } from '../http/caller.ts';
import { throughTheApi } from './through-the-api.ts';

/** POST /quote: the body and the answer of POST /images/quote. */
export const quoteCreation: PortalHandle<'quoteCreation', GenerateServices> = (request, caller, services) =>
  throughTheApi<'quoteCreation', GenerateServices>(withCatalog(quoteImage), request, caller, services);
