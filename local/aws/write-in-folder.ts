import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { hasErrorCode } from '../error-code.ts';

/**
 * Writes a file. Makes its folder when the folder is missing, which is only so at the first file. The write is
 * synchronous: it only fills the system's cache, and to wait for other threads would cost more than the write.
 */
export function writeInFolder(folder: string, name: string, data: string | Uint8Array): void {
  const file = path.join(folder, name);
  try {
    writeFileSync(file, data);
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) throw error;
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, data);
  }
}
