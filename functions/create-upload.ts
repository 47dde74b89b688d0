import { serve } from '../service/api/serve.ts';
import { createUpload } from '../service/generate/create-upload.ts';
import { openUpload } from '../service/generate/open.ts';
import { base } from '../service/platform/lambda-base.ts';
import { dynamodb, uploadTargets } from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';

/** The operation as the API calls it, with a key. The portal calls it with a session. */
export const handler = serve(
  'post',
  createUpload,
  atFirstRequest(() => openUpload({ ...base(), dynamodb: dynamodb(), uploadTargets: uploadTargets() })),
);
