import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { hasErrorCode } from '../error-code.ts';

/**
 * Writes a file. Makes its folder when the folder is missing, which is only so at the first file. Leaves no part of
 * a file on a full disk.
 */
export async function writeInFolder(folder: string, name: string, data: Uint8Array): Promise<void> {
  const file = path.join(folder, name);
  try {
    await writeFile(file, data);
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) {
      await rm(file, { force: true });
      throw error;
    }
    await mkdir(folder, { recursive: true });
    await writeFile(file, data);
  }
}
