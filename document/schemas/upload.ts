/** An upload: its announcement, and the signed address for its bytes. */
import * as z from 'zod';
import { maxSourceBytes } from '../../core/limits.ts';
import { moment } from './values.ts';

export const uploadRequest = z
  .strictObject({
    content_type: z.enum(['image/png', 'image/jpeg', 'image/webp']),
    bytes: z.int().min(1).max(maxSourceBytes).meta({ description: 'The length of the file.' }),
  })
  .meta({ id: 'UploadRequest', description: 'The type and the length of a file that will be put.' });

export const upload = z
  .object({
    id: z.uuid(),
    image_url: z
      .string()
      .regex(/^upload:[0-9a-f-]{36}$/)
      .meta({ description: 'The item of `image_urls` that names this upload.' }),
    upload_url: z.url().meta({ description: 'PUT the bytes there within 15 minutes, without an API key.' }),
    upload_headers: z
      .record(z.string(), z.string())
      .meta({ description: 'Headers of the PUT. They are signed: send exactly these.' }),
    expires_at: moment('Until when the upload can be named in `image_urls`.'),
  })
  .meta({ id: 'Upload', description: 'An announced upload.' });
