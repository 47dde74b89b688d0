/**
 * The heaviest pictures that a vendor can send. Their headers have the requested type and size, and the rest
 * of the file is noise.
 */
import { randomBytes } from 'node:crypto';
import type { OutputFormat } from '../../core/image-formats.ts';
import { pictureOf } from '../vendors/fakes/pictures.ts';

/**
 * A PNG of noise weighs four bytes a pixel when it has transparency. A JPEG or WebP of the best quality weighs
 * less than one and a half.
 */
const bytesPerPixel: Readonly<Record<OutputFormat, number>> = { png: 4, jpeg: 1.5, webp: 1.5 };

const painted = new Map<string, Buffer>();

/** Paints each picture once, because to paint a large one takes a second. */
export function heavyPicture(format: OutputFormat, width: number, height: number): Buffer {
  const name = `${format} ${width}x${height}`;
  const picture =
    painted.get(name) ?? filledUp(pictureOf(format, width, height), width * height * bytesPerPixel[format]);
  painted.set(name, picture);
  return picture;
}

/** A source image of this many bytes. */
export function heavySource(bytes: number): Buffer {
  return filledUp(pictureOf('png', 2048, 2048), bytes);
}

function filledUp(picture: Buffer, bytes: number): Buffer {
  return Buffer.concat([picture, randomBytes(Math.max(0, bytes - picture.byteLength))]);
}
