/** Whether the error is one of Node with this code, such as ENOENT. */
export function hasErrorCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/**
 * The service could not keep a record that it has to keep. It is unknown which part of the write is on disk,
 * and a second attempt could only hide the loss. So the process ends, and the next start continues with what
 * is on disk. The message is one sentence for a person.
 */
export class WriteFailed extends Error {
  override readonly name = 'WriteFailed';

  /** @param what the subject of the sentence, in the plural */
  constructor(what: string, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const remedy = 'make room on the disk or repair it, and start the service again';
    super(`${what} take no more writes (${why}): ${remedy}.`, { cause });
  }
}

/** What the file system says when the disk is full, when it is broken, and when it may not be written. */
const codesOfDisk = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS'];

/** Whether the disk refused a write. */
export function isOfDisk(error: unknown): boolean {
  return codesOfDisk.some((code) => hasErrorCode(error, code));
}

export type OnWriteFailed = (failure: WriteFailed) => void;

/** This process cannot take the folder. The message is one sentence for a person. */
export class FolderRefused extends Error {
  override readonly name = 'FolderRefused';
  /**
   * `FOLDER_IN_USE`: another service holds the folder. `FOLDER_UNUSABLE`: the folder cannot be made, written
   * or locked, or this release cannot read its tables.
   */
  readonly code: 'FOLDER_IN_USE' | 'FOLDER_UNUSABLE';

  constructor(code: FolderRefused['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
