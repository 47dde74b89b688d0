/** In the package, the template and its bundles are there already (start/synthesized-template.ts). */
import { fileURLToPath } from 'node:url';

export class InputRefused extends Error {}

export function synthesizedTemplate(): string {
  return fileURLToPath(new URL('../../cloud/Darkroom.template.json', import.meta.url));
}
