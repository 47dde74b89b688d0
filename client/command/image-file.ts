/** Opens a source image of this machine. */
import { openAsBlob } from 'node:fs';
import { resolve } from 'node:path';
import { CommandError } from './exit-codes.ts';
import type { Io } from './io.ts';

export async function imageFile({ folder }: Pick<Io, 'folder'>, file: string): Promise<Blob> {
  try {
    return await openAsBlob(resolve(folder, file));
  } catch (cause) {
    throw new CommandError('usage', `${file} cannot be read.`, 'Give the path of an image, or a URL.', {
      cause,
    });
  }
}
