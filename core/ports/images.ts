/** The service's own bucket, with results and copies of source images. */
import type { StoredImage } from '../creation.ts';

export interface ImageStore {
  /** @param expiresAtMillis until when a cache may keep a result. Absent: the image is not delivered. */
  put(image: StoredImage, bytes: Uint8Array, expiresAtMillis?: number): Promise<void>;
  /** The bytes under the key. Throws when the object does not exist. */
  get(key: string): Promise<Uint8Array>;
  /** The bytes of an upload. Undefined when the upload was never filled. */
  upload(key: string, signal: AbortSignal): Promise<Uint8Array | undefined>;
  /** The properties of the image under the key. Undefined when the object does not exist. */
  find(key: string): Promise<StoredImage | undefined>;
}
