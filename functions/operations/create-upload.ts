import { serve } from '../http/serve.ts';
import { atFirstRequest } from '../services/open.ts';
import { openUpload } from '../services/upload.ts';
import { base, dynamodb, uploadTargets } from '../services/lambda.ts';
import { createUpload } from './uploads/create-upload.ts';

/** The operation as the API calls it, with a key. The portal calls it with a session. */
export const handler = serve(
  'post',
  createUpload,
  atFirstRequest(() => openUpload({ ...base(), dynamodb: dynamodb(), uploadTargets: uploadTargets() })),
);
