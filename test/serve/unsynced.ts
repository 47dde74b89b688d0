/** What a power cut leaves of a folder: everything that was synced, and of the rest whatever chance keeps. */
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** A note of unsynced-hook.mjs. */
interface Note {
  /** A name that was given to a file, a folder, or a file that had the name `instead`. */
  readonly set?: string;
  readonly ino?: number;
  readonly folder?: boolean;
  readonly instead?: string;
  readonly remove?: string;
  /** So many bytes of the file are on disk. */
  readonly sync?: number;
  readonly bytes?: number;
  /** The names that were in the folder at the note `upTo` are on disk. */
  readonly syncFolder?: string;
  readonly upTo?: number;
  readonly cut?: number;
}

type Named = Pick<Note, 'ino' | 'folder'>;
type Names = Map<string, Named>;

export interface Watched {
  /** For the process whose folder is monitored. */
  readonly execArgv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Copies what a power cut leaves into an empty folder. Call this after the end of the process. */
  readonly cut: (to: string, random: () => number) => void;
}

/** @param work an empty folder, on the same disk as the monitored folder */
export function watchFolder(root: string, work: string): Watched {
  const [log, bytes] = [path.join(work, 'log'), path.join(work, 'bytes')];
  mkdirSync(bytes);
  const hook = fileURLToPath(new URL('unsynced-hook.mjs', import.meta.url));
  const before: Names = new Map();
  const onDisk = new Map<number, number>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const { ino, size } = statSync(file);
    before.set(path.relative(root, file), entry.isDirectory() ? { folder: true } : { ino });
    if (entry.isDirectory()) continue;
    linkSync(file, path.join(bytes, String(ino)));
    onDisk.set(ino, size);
  }
  return {
    execArgv: ['--import', hook],
    env: { UNSYNCED_ROOT: root, UNSYNCED_LOG: log, UNSYNCED_BYTES: bytes },
    cut: (to, random) => {
      const notes = readFileSync(log, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Note);
      // Half of the cuts leave only what was synced.
      const manner = Math.max(0, Math.floor(random() * 4) - 1);
      const names = survivingNames(before, notes, manner, random);
      for (const note of notes) {
        if (note.sync !== undefined)
          onDisk.set(note.sync, Math.max(onDisk.get(note.sync) ?? 0, note.bytes ?? 0));
        if (note.cut !== undefined)
          onDisk.set(note.cut, Math.min(onDisk.get(note.cut) ?? Infinity, note.bytes ?? 0));
      }
      for (const [name, { ino = 0, folder }] of [...names].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const target = path.join(to, name);
        if (folder === true) mkdirSync(target, { recursive: true });
        // What lies in a folder whose name is lost is lost, too.
        else if (names.has(path.dirname(name)) || path.dirname(name) === '.') {
          const source = path.join(bytes, String(ino));
          const { size } = statSync(source);
          const kept = Math.min(size, onDisk.get(ino) ?? 0);
          copyFileSync(source, target);
          truncateSync(target, kept + (manner === 0 ? 0 : Math.floor(random() * (size - kept + 1))));
        }
      }
    },
  };
}

/** The changes of each folder are kept in order: those that were synced, and of the others some, a few first, or none. */
function survivingNames(before: Names, notes: readonly Note[], manner: number, random: () => number): Names {
  const syncedUpTo = new Map<string, number>();
  for (const { syncFolder, upTo = 0 } of notes)
    if (syncFolder !== undefined) syncedUpTo.set(syncFolder, Math.max(syncedUpTo.get(syncFolder) ?? 0, upTo));
  const end = Math.floor(random() * notes.length);
  const names = new Map(before);
  for (const [index, { set, remove, instead, ...named }] of notes.entries()) {
    const name = set ?? remove;
    if (name === undefined) continue;
    const parent = path.dirname(name) === '.' ? '' : path.dirname(name);
    const isSynced = index < (syncedUpTo.get(parent) ?? 0);
    const isKept = [false, index < end, random() < 0.5][manner] === true;
    if (!isSynced && !isKept) continue;
    if (instead !== undefined) names.delete(instead);
    if (set === undefined) names.delete(name);
    else names.set(name, named);
  }
  return names;
}
