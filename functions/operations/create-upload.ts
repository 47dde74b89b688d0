import { serve } from '../http/serve.ts';
import { atFirstRequest } from '../services/open.ts';
import { uploadServices } from '../services/upload.ts';
import { createUpload } from './uploads/create-upload.ts';

/** The operation as the API calls it, with a key. The portal calls it with a session. */
export const handler = serve('post', createUpload, atFirstRequest(uploadServices));
