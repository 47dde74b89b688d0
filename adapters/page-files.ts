import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PageFiles } from '../core/ports/pages.ts';

/** The files of one folder. */
export function createPageFiles(folder: string): PageFiles {
  return {
    list: async () => (await readdir(folder)).sort(),
    read: async (name) => readFile(join(folder, name)),
  };
}
