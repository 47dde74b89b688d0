import { randomBytes } from 'node:crypto';
import { mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { proofOf, readServiceRecord, serviceFileName } from './service-record.ts';
import type { ReadyService, ServiceRecord } from './service-record.ts';

/**
 * Two services that write the same folder are the worst case. So the lock is a lock of the operating system
 * and not a file with a process id. The kernel frees such a lock when the process ends, in whatever way it
 * ends, also while the dead process is still a zombie. A process that is stopped or busy keeps the lock. A
 * new process with the id of a dead holder does not hold the lock.
 *
 * Node has no function that locks a file. LevelDB, which holds the tables, locks the folder of each database
 * (fcntl, on Windows LockFile). So `lock/` is an empty LevelDB that stays open.
 */

/** The lock of a folder that this process holds. */
export interface FolderLock {
  /** Writes the addresses into service.json, where the operator's command finds the service. */
  readonly announce: (addresses: ServiceAddresses) => void;
  /** Proves to a reader of the folder's service.json that this process holds the folder. */
  readonly prove: (challenge: string) => string;
  readonly release: () => Promise<void>;
}

type ServiceAddresses = Omit<ReadyService, 'pid' | 'startedAt' | 'secret'>;

/** This process cannot take the folder. The message is one sentence for a person. */
export class FolderRefused extends Error {
  override readonly name = 'FolderRefused';
  /**
   * `FOLDER_IN_USE`: another service holds the folder. `FOLDER_UNUSABLE`: the folder cannot be made, written
   * or locked.
   */
  readonly code: 'FOLDER_IN_USE' | 'FOLDER_UNUSABLE';

  constructor(code: FolderRefused['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The part of LevelDB that the lock uses. */
interface LevelDatabase {
  open(): Promise<void>;
  close(): Promise<void>;
}

/** `level` is a dependency of dynalite and not of the project, so dynalite's own copy is loaded. */
const loadLevel: (name: 'level') => { readonly Level: new (location: string) => LevelDatabase } =
  createRequire(createRequire(import.meta.url).resolve('dynalite'));
const { Level } = loadLevel('level');

const lockFolderName = 'lock';

/**
 * The folders that this process holds. LevelDB must not open the same lock twice in one process. It would
 * refuse the second time, but it would also close the file, and closing a file frees the lock (fcntl of
 * POSIX).
 */
const held = new Set<string>();

/** Takes the folder for this process, and makes the folder when it is missing. Throws FolderRefused. */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const realFolder = makeFolder(folder);
  if (held.has(realFolder)) throw inUse(folder);
  held.add(realFolder);
  try {
    return await take(folder, () => held.delete(realFolder));
  } catch (error) {
    held.delete(realFolder);
    throw error;
  }
}

async function take(folder: string, onRelease: () => void): Promise<FolderLock> {
  const database = await openLock(folder);
  const file = path.join(folder, serviceFileName);
  const own = {
    pid: process.pid,
    startedAt: new Date().toISOString(),
    secret: randomBytes(32).toString('hex'),
  };
  // While this process holds the lock, no other process writes the file.
  write(file, own);
  return {
    announce: (addresses) => write(file, { ...own, ...addresses }),
    prove: (challenge) => proofOf(own.secret, challenge),
    release: async () => {
      rmSync(file, { force: true });
      await database.close();
      onRelease();
    },
  };
}

/** Makes the folder and returns its real path, so that two names of one folder count as one. */
function makeFolder(folder: string): string {
  try {
    mkdirSync(folder, { recursive: true });
    return realpathSync(folder);
  } catch (error) {
    throw unusable(folder, error);
  }
}

async function openLock(folder: string): Promise<LevelDatabase> {
  const database = new Level(path.join(folder, lockFolderName));
  try {
    await database.open();
    return database;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    throw code === 'LEVEL_LOCKED' ? inUse(folder) : unusable(folder, cause);
  }
}

function inUse(folder: string): FolderRefused {
  const record = readServiceRecord(folder);
  const who =
    record === undefined ? [] : [`process ${record.pid}`, record.localUrl ?? 'it is still starting'];
  const detail = who.length === 0 ? '' : ` (${who.join(', ')})`;
  return new FolderRefused('FOLDER_IN_USE', `A service already runs on ${folder}${detail}.`);
}

function unusable(folder: string, cause: unknown): FolderRefused {
  const why = cause instanceof Error ? cause.message : String(cause);
  const remedy = `make it writable, or delete ${path.join(folder, lockFolderName)} when no service runs on it`;
  return new FolderRefused('FOLDER_UNUSABLE', `The folder ${folder} cannot be locked (${why}): ${remedy}.`, {
    cause,
  });
}

/**
 * Writes the file so that a reader sees either the old text or the new text, never a part. Only the owner may
 * read the file, because it holds the secret.
 */
function write(file: string, record: ServiceRecord): void {
  const draft = `${file}.draft`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}
