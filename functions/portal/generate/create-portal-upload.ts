import { createUpload } from '../../operations/uploads/create-upload.ts';
import type { GenerateServices } from '../../services/portal-generate.ts';
import type { PortalHandle } from '../http/caller.ts';
import { throughTheApi } from './through-the-api.ts';

/** POST /uploads: the body and the answer of the API's POST /uploads. */
export const createPortalUpload: PortalHandle<'createPortalUpload', GenerateServices> = (
  request,
  caller,
  services,
) => throughTheApi<'createPortalUpload', GenerateServices>(createUpload, request, caller, services);
