import path from 'node:path';
import { FolderRefused } from '../../disk.ts';
import type { StoredRecord } from '../storage.ts';
import { type FileOperations, realFiles } from './file-operations.ts';
import {
  type FileHeader,
  isOldForm,
  LineDamaged,
  type LinesRead,
  type NumberedFile,
  parseEnd,
  parseHeader,
  presentVersion,
  readLines,
  readNames,
  segmentName,
  type SnapshotEnd,
} from './format.ts';

/** Why a folder with tables cannot be opened. Each message is one sentence that says what to do. */
const otherwise = 'bring back a copy of the folder, or start on a new folder';

/** Refuses a folder whose tables are in a LevelDB. Reads names only. Throws FolderRefused. */
export function refuseOldForm(folder: string, files: Pick<FileOperations, 'list'> = realFiles): void {
  if (!isOldForm(files.list(folder))) return;
  throw refusal(
    `The tables in ${folder} are of an earlier release, which kept them in LevelDB: start on a new folder (--data), or go on with the release that wrote them.`,
  );
}

const refuseVersion = (file: string, { version }: FileHeader): FolderRefused =>
  refusal(
    `${file} is of version ${version}, and this release reads version ${presentVersion}: start the release that wrote it, or start on a new folder.`,
  );

const refuseMissing = (file: string): FolderRefused => refusal(`${file} is missing: ${otherwise}.`);

/** A file that must be complete, because the files after it go on where it ends. */
const refuseCut = (file: string): FolderRefused => refusal(`${file} ends before its end: ${otherwise}.`);

/** `isLast`: nothing was written after this file, so a person may cut it. */
function refuseDamaged(damage: LineDamaged, isLast: boolean): FolderRefused {
  const { file, line, offset } = damage;
  const fix = isLast
    ? `bring back a copy of the folder, or cut the file before this line (truncate -s ${offset} ${file}), which loses this line and all lines after it`
    : otherwise;
  return refusal(`Line ${line} of ${file} is damaged: ${fix}.`, { cause: damage });
}

function refusal(message: string, options?: ErrorOptions): FolderRefused {
  return new FolderRefused('FOLDER_UNUSABLE', message, options);
}

export interface LoadedFolder {
  /** The segment in which the journal continues. `isBegun`: its first line is there. */
  readonly present: { readonly number: number; readonly isBegun: boolean };
  readonly journalBytes: number;
  /** The bytes of the snapshot, or 0. */
  readonly snapshotBytes: number;
  /** A segment whose last line a kill has cut off, and the bytes of its whole lines. */
  readonly cut: { readonly name: string; readonly wholeBytes: number } | undefined;
  /** Files that no start needs any more. */
  readonly leftovers: readonly string[];
}

/** Gives the newest snapshot, and the segments from its number on, to `apply`. Throws FolderRefused. */
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
