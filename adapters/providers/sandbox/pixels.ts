import type { AspectRatio, Resolution } from '../../../core/image-formats.ts';

const edge: Readonly<Record<Resolution, number>> = { '1K': 1024, '2K': 2048, '4K': 4096 };

/** Width and height, both multiples of 16. The area is about the area of the resolution's square. */
export function pixelsOf(
  resolution: Resolution,
  aspectRatio: AspectRatio,
): { width: number; height: number } {
  const [across = 1, down = 1] = aspectRatio.split(':').map(Number);
  const side = (share: number): number => Math.round((edge[resolution] * Math.sqrt(share)) / 16) * 16;
  return { width: side(across / down), height: side(down / across) };
}
