import { serve } from '../http/serve.ts';
import { atFirstRequest } from '../services/open.ts';
import { uploadServices } from '../services/upload.ts';
import { createUpload } from './uploads/create-upload.ts';

/** The operation behind a key. The portal calls it behind a session. */
export const handler = serve('post', createUpload, atFirstRequest(uploadServices));
