/** Why a folder with tables cannot be opened. Each message is one sentence that says what to do. */
import { FolderRefused } from '../../folder-refused.ts';
import type { FileOperations } from './file-operations.ts';
import type { FileHeader } from './file-header.ts';
import { presentVersion } from './file-header.ts';
import { realFiles } from './file-operations.ts';
import type { LineDamaged } from './lines.ts';
import { isOldForm } from './names.ts';

const otherwise = 'bring back a copy of the folder, or start on a new folder';

/**
 * Refuses a folder whose tables an earlier release keeps in a LevelDB. Reads names and writes nothing, so a
 * service can ask before it writes its lock. Throws FolderRefused.
 */
export function refuseOldForm(folder: string, files: Pick<FileOperations, 'list'> = realFiles): void {
  if (!isOldForm(files.list(folder))) return;
  throw refusal(
    `The tables in ${folder} are of an earlier release, which kept them in LevelDB: start on a new folder (--data), or go on with the release that wrote them.`,
  );
}

export const refuseVersion = (file: string, { version }: FileHeader): FolderRefused =>
  refusal(
    `${file} is of version ${version}, and this release reads version ${presentVersion}: start the release that wrote it, or start on a new folder.`,
  );

export const refuseMissing = (file: string): FolderRefused => refusal(`${file} is missing: ${otherwise}.`);

/** A file that must be complete, because the files after it go on where it ends. */
export const refuseCut = (file: string): FolderRefused =>
  refusal(`${file} ends before its end: ${otherwise}.`);

/** `isLast`: nothing was written after this file, so a person may cut it. */
export function refuseDamaged(damage: LineDamaged, isLast: boolean): FolderRefused {
  const { file, line, offset } = damage;
  const remedy = isLast
    ? `bring back a copy of the folder, or cut the file before this line (truncate -s ${offset} ${file}), which loses this line and all lines after it`
    : otherwise;
  return refusal(`Line ${line} of ${file} is damaged: ${remedy}.`, { cause: damage });
}

function refusal(message: string, options?: ErrorOptions): FolderRefused {
  return new FolderRefused('FOLDER_UNUSABLE', message, options);
}
