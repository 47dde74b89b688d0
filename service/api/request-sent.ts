import { plainShown } from '../contract/request-fields.ts';
import type { CreationRecord } from '../creations/creation.ts';

/**
 * The body of the request behind a creation, without the source images: the service keeps copies, and not the
 * addresses of the client.
 */
export function requestSent(creation: CreationRecord): Record<string, unknown> {
  const { prompt, metadata, user, webhook } = creation;
  return {
    model: creation.model,
    ...(prompt !== null && { prompt }),
    resolution: creation.resolution,
    aspect_ratio: creation.aspectRatio,
    output_format: creation.outputFormat,
    ...Object.fromEntries(Object.entries(plainShown(creation)).filter(([, value]) => value !== null)),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(user !== undefined && { user }),
    ...(webhook && webhook.url !== '' && { webhook_url: webhook.url }),
  };
}
