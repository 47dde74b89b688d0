import { base } from '../service/platform/lambda-base.ts';
import {
  catalog,
  dynamodb,
  images,
  outbound,
  signedOriginSecrets,
  states,
  uploadTargets,
} from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';
import { generateHandlers } from '../service/portal/generate/generate.ts';
import { openPortalGenerate } from '../service/portal/generate/open.ts';
import { servePortal } from '../service/portal/http/serve-portal.ts';

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
