/** The service's own bucket. */
import type { StoredImage } from '../creation.ts';

export interface ImageStore {
  put(image: StoredImage, bytes: Uint8Array): Promise<void>;
  /** The bytes under the key. Throws when there are none. */
  get(key: string): Promise<Uint8Array>;
  /** The image stored under the key, with what was noted of it; undefined when there is none. */
  find(key: string): Promise<StoredImage | undefined>;
}
