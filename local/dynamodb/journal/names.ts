/** The files of a folder with tables, by their names. */

/** A journal's segment or a snapshot. */
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

/**
 * Whether the names are those of a LevelDB. Releases until November 2026 kept the tables in a LevelDB in the
 * same folder.
 */
export function isOldForm(names: readonly string[]): boolean {
  return names.some((name) => /^(CURRENT|MANIFEST-\d+|\d+\.(ldb|sst|log))$/.test(name));
}
