import type { Renderer } from '../service/creations/machines.ts';

/**
 * The memory of the functions that render. The wait for a vendor is billed by memory, so each function has the
 * least memory that holds the largest picture of its kind, with a reserve of 25 %. `npm run lab -- memory`
 * measures it (docs/measurements/2026-11-22-renderer-memory.md).
 */
export const rendererSizes: Readonly<
  Record<Renderer, { readonly memoryMegabytes: number; readonly description: string }>
> = {
  any: { memoryMegabytes: 1024, description: 'Renders the image of a creation and completes it' },
  small: { memoryMegabytes: 256, description: 'Renders a 1K image without source images, and completes it' },
  large: {
    memoryMegabytes: 576,
    description: 'Renders a larger image without source images, and completes it',
  },
};
