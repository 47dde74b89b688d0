/** The Lambda function of the playground, which charges as the API does. */
import type { PortalHandlers } from '../http/serve-portal.ts';
import { createCreation, createPortalUpload, quoteCreation } from './generate.ts';
import type { GenerateServices } from './open.ts';

export const generateHandlers: PortalHandlers<'generate', GenerateServices> = {
  createCreation,
  quoteCreation,
  createPortalUpload,
};
