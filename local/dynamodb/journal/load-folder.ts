import path from 'node:path';
import type { StoredRecord } from '../storage.ts';
import { parseEnd, parseHeader, presentVersion } from './file-header.ts';
import type { FileHeader, SnapshotEnd } from './file-header.ts';
import type { FileOperations } from './file-operations.ts';
import { LineDamaged, readLines } from './lines.ts';
import type { LinesRead } from './lines.ts';
import { readNames, segmentName } from './names.ts';
import type { NumberedFile } from './names.ts';
import { refuseCut, refuseDamaged, refuseMissing, refuseOldForm, refuseVersion } from './refusals.ts';

/** What a folder held. */
export interface LoadedFolder {
  /** The segment in which the journal continues. `isBegun`: its first line is there. */
  readonly present: { readonly number: number; readonly isBegun: boolean };
  /** The bytes of all segments that were read. */
  readonly journalBytes: number;
  /** The bytes of the snapshot, or 0. */
  readonly snapshotBytes: number;
  /** A segment whose last line a kill has cut off, and the bytes of its whole lines. */
  readonly cut: { readonly name: string; readonly wholeBytes: number } | undefined;
  /** Files that no start needs any more. */
  readonly leftovers: readonly string[];
}

/**
 * Gives the records of the newest snapshot to `apply`, and then those of all segments from the snapshot's
 * number on. Writes and deletes nothing. Throws FolderRefused.
 */
export async function loadFolder(
  files: FileOperations,
  folder: string,
  apply: (record: StoredRecord) => void,
): Promise<LoadedFolder> {
  refuseOldForm(folder, files);
  const names = readNames(files.list(folder));
  const snapshot = names.snapshots.at(-1);
  const first = snapshot?.number ?? 1;
  const segments = names.segments.filter(({ number }) => number >= first);
  const isNew = snapshot === undefined && segments.length === 0;
  if (!isNew) refuseGap(folder, first, segments);

  const snapshotBytes = snapshot === undefined ? 0 : await readSnapshot(files, folder, snapshot, apply);
  let journalBytes = 0;
  let isBegun = false;
  let cut: LoadedFolder['cut'];
  for (const segment of segments) {
    const isLast = segment === segments.at(-1);
    const { lines, wholeBytes, restBytes } = await readSegment(files, folder, segment, isLast, apply);
    // A segment gets records only after the segment before is on disk as a whole.
    if (cut !== undefined && lines > 1) throw refuseCut(path.join(folder, cut.name));
    isBegun = lines > 0;
    if (isBegun && restBytes > 0) cut = { name: segment.name, wholeBytes };
    // A kill can leave a last segment without its first line, but no snapshot of its number.
    if (!isBegun && (!isLast || segment.number === snapshot?.number))
      throw refuseCut(path.join(folder, segment.name));
    journalBytes += wholeBytes;
  }
  const needed = new Set([snapshot, ...segments].map((file) => file?.name));
  const leftovers = [...names.segments, ...names.snapshots].map(({ name }) => name);
  return {
    present: { number: segments.at(-1)?.number ?? first, isBegun },
    journalBytes,
    snapshotBytes,
    cut,
    leftovers: [...names.drafts, ...leftovers.filter((name) => !needed.has(name))],
  };
}

function refuseGap(folder: string, first: number, segments: readonly NumberedFile[]): void {
  const last = segments.at(-1)?.number ?? first;
  for (let number = first; number <= last; number += 1) {
    const isThere = segments.some((segment) => segment.number === number);
    if (!isThere) throw refuseMissing(path.join(folder, segmentName(number)));
  }
}

/** Resolves with the bytes of the snapshot. */
async function readSnapshot(
  files: FileOperations,
  folder: string,
  { name, number }: NumberedFile,
  apply: (record: StoredRecord) => void,
): Promise<number> {
  const file = path.join(folder, name);
  let records = 0;
  let end: SnapshotEnd | undefined;
  const { wholeBytes } = await readChecked({ files, file, isLast: false }, (value, line) => {
    if (line === 1) checkHeader(value, file, { kind: 'snapshot', number });
    else if ((end = parseEnd(value)) === undefined) {
      records += 1;
      apply(value as StoredRecord);
    }
  });
  if (end?.records !== records) throw refuseCut(file);
  return wholeBytes;
}

function readSegment(
  files: FileOperations,
  folder: string,
  { name, number }: NumberedFile,
  isLast: boolean,
  apply: (record: StoredRecord) => void,
): Promise<LinesRead> {
  const file = path.join(folder, name);
  return readChecked({ files, file, isLast }, (value, line) => {
    if (line === 1) checkHeader(value, file, { kind: 'journal', number });
    else apply(value as StoredRecord);
  });
}

/** Refuses a file of another version, or under the name of another file. */
function checkHeader(value: unknown, file: string, own: Pick<FileHeader, 'kind' | 'number'>): void {
  const header = parseHeader(value);
  if (header !== undefined && header.version !== presentVersion) throw refuseVersion(file, header);
  if (header?.kind !== own.kind || header.number !== own.number) throw new LineDamaged(file, 1, 0);
}

async function readChecked(
  { files, file, isLast }: { files: FileOperations; file: string; isLast: boolean },
  take: (value: unknown, line: number) => void,
): Promise<LinesRead> {
  try {
    return await readLines(files, file, take);
  } catch (error) {
    throw error instanceof LineDamaged ? refuseDamaged(error, isLast) : error;
  }
}
