import * as z from 'zod';
import { isObject } from '../../json-object.ts';

/**
 * The first line of every segment and every snapshot. A later release that changes the form of the files
 * counts `version` up. It can then convert or refuse a folder of this form.
 */
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
