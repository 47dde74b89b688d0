/** The Lambda function of the playground, which charges as the API does. */
import { atFirstRequest } from '../services/open.ts';
import { openPortalGenerate, type GenerateServices } from '../services/portal-generate.ts';
import {
  base,
  catalog,
  dynamodb,
  images,
  outbound,
  signedOriginSecrets,
  states,
  uploadTargets,
} from '../services/lambda.ts';
import { createCreation } from './generate/create-creation.ts';
import { createPortalUpload } from './generate/create-portal-upload.ts';
import { quoteCreation } from './generate/quote-creation.ts';
import { servePortal, type PortalHandlers } from './http/serve-portal.ts';

export const generateHandlers: PortalHandlers<'generate', GenerateServices> = {
  createCreation,
  quoteCreation,
  createPortalUpload,
};

export const handler = servePortal(
  'generate',
  generateHandlers,
  atFirstRequest(() =>
    openPortalGenerate({
      ...base(),
      dynamodb: dynamodb(),
      states: states(),
      images,
      outbound: outbound(),
      catalog,
      originSecrets: signedOriginSecrets(),
      uploadTargets: uploadTargets(),
    }),
  ),
);
