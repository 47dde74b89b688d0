import { crc32 } from 'node:zlib';
import * as z from 'zod';
import { isObject } from '../../json.ts';
import type { FileOperations } from './file-operations.ts';

/** The first line of every segment and snapshot. A release that changes the form counts `version` up. */
export interface FileHeader {
  readonly format: typeof format;
  readonly version: number;
  readonly kind: 'journal' | 'snapshot';
  readonly number: number;
}

const format = 'darkroom-tables';
export const presentVersion = 1;

const headerSchema = z.object({
  format: z.literal(format),
  version: z.int(),
  kind: z.enum(['journal', 'snapshot']),
  number: z.int(),
});

/** The last line of a snapshot. Without this line the snapshot is not complete. */
export interface SnapshotEnd {
  readonly end: true;
  readonly records: number;
}

const endSchema = z.object({ end: z.literal(true), records: z.int() });

export const headerOf = (kind: FileHeader['kind'], number: number): FileHeader => ({
  format,
  version: presentVersion,
  kind,
  number,
});

/** Undefined when the value is no header. */
export const parseHeader = (value: unknown): FileHeader | undefined => headerSchema.safeParse(value).data;

/** Undefined when the value is no end of a snapshot. */
export const parseEnd = (value: unknown): SnapshotEnd | undefined =>
  // Most values are records. The schema is slow, so it sees only what can be an end.
  isObject(value) && 'end' in value ? endSchema.parse(value) : undefined;

/** A line is a checksum of 8 hexadecimal digits, a space, JSON, and a line break. */
const checksumDigits = 8;
const lineBreak = 10;

export function encodeLine(value: unknown): string {
  const json = JSON.stringify(value);
  return `${checksumOf(json)} ${json}\n`;
}

function checksumOf(bytes: string | Uint8Array): string {
  return crc32(bytes).toString(16).padStart(checksumDigits, '0');
}

export interface LinesRead {
  readonly lines: number;
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

// The files of a folder with tables, by their names.

export interface NumberedFile {
  readonly name: string;
  readonly number: number;
}

/** The files of the folder. Both lists are in the order of their numbers. */
export interface FolderFiles {
  readonly segments: readonly NumberedFile[];
  readonly snapshots: readonly NumberedFile[];
  /** Snapshots that were never finished. */
  readonly drafts: readonly string[];
}

const pattern = /^(journal|snapshot)-(\d{8})\.jsonl(\.draft)?$/;

const numbered = (kind: string, number: number): string => `${kind}-${String(number).padStart(8, '0')}.jsonl`;

/** The name of the segment with this number. The first segment is 1. */
export const segmentName = (number: number): string => numbered('journal', number);

/** The name of the snapshot that holds everything of the segments before `number`. */
export const snapshotName = (number: number): string => numbered('snapshot', number);

export const draftName = (number: number): string => `${snapshotName(number)}.draft`;

/** Sorts the names of a folder. Names of others are left out. */
export function readNames(names: readonly string[]): FolderFiles {
  const files = { segments: [] as NumberedFile[], snapshots: [] as NumberedFile[], drafts: [] as string[] };
  for (const name of names.toSorted()) {
    const [, kind, digits, draft] = pattern.exec(name) ?? [];
    if (kind === undefined) continue;
    const file = { name, number: Number(digits) };
    if (draft !== undefined) files.drafts.push(name);
    else if (kind === 'journal') files.segments.push(file);
    else files.snapshots.push(file);
  }
  return files;
}

/** Whether the names are those of a LevelDB, which held the tables until November 2026. */
export function isOldForm(names: readonly string[]): boolean {
  return names.some((name) => /^(CURRENT|MANIFEST-\d+|\d+\.(ldb|sst|log))$/.test(name));
}
