/**
 * Decodes JPEG by libjpeg-turbo at an eighth, a quarter, a half or the whole of its size: a small picture takes a
 * fraction of the time and of the memory. The functions are those of TurboJPEG 2 (libjpeg-turbo.org).
 */
import { bigEndian } from '../../values/text.ts';
import type { Pixels } from './shrink.ts';
import { compiledOnce } from './wasm.ts';

export interface JpegLimits {
  /** The decoded picture has at least this many pixels on its longest side, if the file has them. */
  readonly side: number;
  /** What the coefficients of a file that is read in several passes may take. */
  readonly mostBytes: number;
}

interface TurboJpeg {
  readonly memory: { readonly buffer: ArrayBuffer };
  malloc(bytes: number): number;
  tjInitDecompress(): number;
  tjDecompressHeader3(
    ...[handle, file, bytes, toWidth, toHeight, toSampling, toColours]: readonly number[]
  ): number;
  tjDecompress2(
    ...[handle, file, bytes, to, width, stride, height, format, flags]: readonly number[]
  ): number;
}

const codeOf = compiledOnce('@cwasm/jpeg-turbo/jpeg-turbo.wasm');

/** Scans of a progressive file. Encoders write about ten, and each one goes over the whole picture. */
const mostScans = 50;
/** The bytes of a pixel's coefficients by TJSAMP: 4:4:4, 4:2:2, 4:2:0, grey, 4:4:0 and 4:1:1. */
const coefficientBytes = [6, 4, 3, 2, 4, 3];
/** TJPF_RGBA. */
const rgba = 7;

/**
 * Like the width and the height that the service reports, the picture ignores the orientation in EXIF. Each
 * picture has a decoder of its own, because a broken file may corrupt the decoder's memory.
 * @throws when the file is broken, cut off, of CMYK, too large for the memory, or has too many scans
 */
export async function decodeJpeg(bytes: Uint8Array, { side, mostBytes }: JpegLimits): Promise<Pixels> {
  const { scans, isOnePass } = passesOf(bytes);
  if (scans > mostScans) throw new Error('a JPEG with too many scans');
  const decoder = new WebAssembly.Instance(await codeOf(), outside).exports as TurboJpeg;
  const [handle, file, header] = [
    decoder.tjInitDecompress(),
    decoder.malloc(bytes.length),
    decoder.malloc(16),
  ];
  new Uint8Array(decoder.memory.buffer, file, bytes.length).set(bytes);
  const fields = [0, 4, 8, 12].map((place) => header + place);
  if (decoder.tjDecompressHeader3(handle, file, bytes.length, ...fields) !== 0) throw new Error('no JPEG');
  const [wide = 0, high = 0, sampling = 0] = new Int32Array(decoder.memory.buffer, header, 3);
  if (!isOnePass && wide * high * (coefficientBytes[sampling] ?? 6) > mostBytes)
    throw new Error('a JPEG that is too large for the memory');
  const eighths = [1, 2, 4].find((part) => (Math.max(wide, high) * part) / 8 >= side) ?? 8;
  const [width, height] = [Math.ceil((wide * eighths) / 8), Math.ceil((high * eighths) / 8)];
  const to = decoder.malloc(width * height * 4);
  if (decoder.tjDecompress2(handle, file, bytes.length, to, width, width * 4, height, rgba, 0) !== 0)
    throw new Error('a JPEG that is broken');
  return { width, height, data: new Uint8Array(decoder.memory.buffer, to, width * height * 4) };
}

const nothing = (): number => 0;
const fail = (): never => {
  throw new Error('a JPEG that is broken');
};
/** What the module asks of its surroundings: it reads no environment and no file, and an error ends it. */
const outside = {
  env: { setjmp: nothing, longjmp: fail },
  wasi_snapshot_preview1: {
    ...{ environ_get: nothing, environ_sizes_get: nothing, proc_exit: fail },
    ...{ fd_close: nothing, fd_seek: nothing, fd_write: nothing },
  },
};

/** The coefficients of a progressive file stay in memory until its last scan, as do those of a scan for each colour. */
function passesOf(bytes: Uint8Array): { readonly scans: number; readonly isOnePass: boolean } {
  let [scans, components, isOnePass] = [0, 0, true];
  for (let at = bytes.indexOf(0xff, 2); at >= 0; at = bytes.indexOf(0xff, at)) {
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xc0 || marker === 0xc1 || marker === 0xc2) components = bytes[at + 9] ?? 0;
    if (marker === 0xda) scans += 1;
    if (marker === 0xc2 || (marker === 0xda && bytes[at + 4] !== components)) isOnePass = false;
    if (marker === 0xd9) break;
    // 00 and restarts stand between the bits of a scan. Before a marker, FF may stand any number of times.
    const hasLength = marker >= 0xc0 && marker < 0xff && (marker < 0xd0 || marker > 0xd7);
    at += marker === 0xff ? 1 : 2 + (hasLength ? bigEndian(bytes, at + 2, 2) : 0);
  }
  return { scans, isOnePass };
}
