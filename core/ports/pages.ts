import type { PageHeaders } from '../portal/page-files.ts';

/** The files that a release brings. */
export interface PageFiles {
  list(): Promise<readonly string[]>;
  read(name: string): Promise<Uint8Array>;
}

/** The bucket from which the portal's distribution serves. */
export interface PageStore {
  put(name: string, bytes: Uint8Array, headers: PageHeaders): Promise<void>;
  /** Up to 1,000 names of what is stored. */
  list(): Promise<readonly string[]>;
  remove(name: string): Promise<void>;
}
