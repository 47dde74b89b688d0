import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
export async function buildPortal(folder: string, base = '/'): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'index.html'), `<!doctype html><title>portal</title><p>${base}</p>`);
}
