/** The files of the data folder, and what can go wrong with them. */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

/** Whether the error is one of Node with this code, such as ENOENT. */
export function hasErrorCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** The text of a file. Undefined when there is no such file. */
export function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Makes the folder and those above it, where they are missing, on disk with their names. */
export function makeFolder(folder: string, mode?: number): void {
  const first = mkdirSync(folder, { recursive: true, ...(mode !== undefined && { mode }) });
  if (first === undefined) return;
  const top = path.dirname(path.resolve(first));
  for (let each = path.resolve(folder); each !== top; each = path.dirname(each))
    syncFolder(path.dirname(each));
}

/** Writes a file and its folder. A reader sees the old text or the new one, also after a power failure. */
export function replaceFile(file: string, text: string, { isPrivate = false } = {}): void {
  const draft = `${file}.draft`;
  makeFolder(path.dirname(file), isPrivate ? 0o700 : undefined);
  rmSync(draft, { force: true });
  writeFileSync(draft, text, { flush: true, ...(isPrivate && { mode: 0o600 }) });
  renameSync(draft, file);
  syncFolder(path.dirname(file));
}

/** Runs the work once for all who ask before it begins, and never twice at a time. */
export function inGroups(work: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve();
  let waiting: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    waiting = undefined;
    last = work();
    return last;
  };
  return () => (waiting ??= last.then(begin, begin));
}

/** A new name is on disk only with its folder. Windows syncs no folder. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** A record may be lost, and a second attempt could only hide that. So the process ends with this sentence. */
export class WriteFailed extends Error {
  override readonly name = 'WriteFailed';

  /** @param what the subject of the sentence, in the plural */
  constructor(what: string, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const fix = 'make room on the disk or repair it, and start the service again';
    super(`${what} take no more writes (${why}): ${fix}.`, { cause });
  }
}

export type OnWriteFailed = (failure: WriteFailed) => void;

/** What the file system says when the disk is full, when it is broken, and when it may not be written. */
const codesOfDisk = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS'];

/** Whether the disk refused a write. */
export function isOfDisk(error: unknown): boolean {
  return codesOfDisk.some((code) => hasErrorCode(error, code));
}

/** This process cannot take the folder. The message is one sentence for a person. */
export class FolderRefused extends Error {
  override readonly name = 'FolderRefused';
  /** `FOLDER_IN_USE`: another service holds the folder. `FOLDER_UNUSABLE`: this one cannot use it. */
  readonly code: 'FOLDER_IN_USE' | 'FOLDER_UNUSABLE';

  constructor(code: FolderRefused['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
