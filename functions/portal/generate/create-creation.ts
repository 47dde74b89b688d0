import { generateImage } from '../../operations/generate/generate-image.ts';
import { withCatalog } from '../../http/with-catalog.ts';
import type { GenerateServices } from '../../services/portal-generate.ts';
import type { PortalHandle } from '../http/caller.ts';
import { throughTheApi } from './through-the-api.ts';

/** POST /creations: the body, the charge and the answer of POST /images/generate. */
export const createCreation: PortalHandle<'createCreation', GenerateServices> = async (
  request,
  caller,
  services,
) => {
  const answer = await throughTheApi<'createCreation', GenerateServices>(
    withCatalog(generateImage),
    request,
    caller,
    services,
  );
  return { ...answer, logged: { target: answer.body.id } };
};
