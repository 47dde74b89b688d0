/** The secret with which `listen` signs. It follows from the API key, so it is the same at every start. */
import { createHmac } from 'node:crypto';

/** `whsec_` and the base64 of HMAC-SHA-256 (key, "darkroom listen"). It tells nothing about the key. */
export function listenSecret(apiKey: string): string {
  return `whsec_${createHmac('sha256', apiKey).update('darkroom listen').digest('base64')}`;
}
