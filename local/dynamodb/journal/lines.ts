import { crc32 } from 'node:zlib';
import type { FileOperations } from './file-operations.ts';

/**
 * A line is a checksum of 8 hexadecimal digits, a space, JSON, and a line break. JSON.stringify() writes no
 * line break, and it escapes half characters, so the text is always good UTF-8.
 */
const checksumDigits = 8;
const lineBreak = 10;

/** Writes a value as a line. */
export function encodeLine(value: unknown): string {
  const json = JSON.stringify(value);
  return `${checksumOf(json)} ${json}\n`;
}

function checksumOf(bytes: string | Uint8Array): string {
  return crc32(bytes).toString(16).padStart(checksumDigits, '0');
}

/** How the reading of a file ended. */
export interface LinesRead {
  /** The number of whole lines. */
  readonly lines: number;
  /** The bytes of all whole lines. */
  readonly wholeBytes: number;
  /** The bytes after the last line break: the beginning of a line that was never finished. */
  readonly restBytes: number;
}

/** A whole line that is not as it was written. */
export class LineDamaged extends Error {
  override readonly name = 'LineDamaged';
  readonly file: string;
  /** Counts from 1. */
  readonly line: number;
  /** Where the line begins in its file. */
  readonly offset: number;

  constructor(file: string, line: number, offset: number, options?: ErrorOptions) {
    super(`line ${line} of ${file} is damaged`, options);
    this.file = file;
    this.line = line;
    this.offset = offset;
  }
}

/** Gives the value of each whole line to `take`, in order. Throws LineDamaged. */
export async function readLines(
  files: Pick<FileOperations, 'read'>,
  file: string,
  take: (value: unknown, line: number) => void,
): Promise<LinesRead> {
  let lines = 0;
  let wholeBytes = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of files.read(file)) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let start = 0;
    for (let end = bytes.indexOf(lineBreak); end >= 0; end = bytes.indexOf(lineBreak, start)) {
      lines += 1;
      take(decodeLine(bytes.subarray(start, end), file, lines, wholeBytes), lines);
      wholeBytes += end + 1 - start;
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  return { lines, wholeBytes, restBytes: rest.length };
}

function decodeLine(bytes: Buffer, file: string, line: number, offset: number): unknown {
  const json = bytes.subarray(checksumDigits + 1);
  const isWhole = bytes.toString('latin1', 0, checksumDigits + 1) === `${checksumOf(json)} `;
  if (!isWhole) throw new LineDamaged(file, line, offset);
  try {
    return JSON.parse(json.toString());
  } catch (error) {
    throw new LineDamaged(file, line, offset, { cause: error });
  }
}
