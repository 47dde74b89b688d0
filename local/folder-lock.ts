import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { FolderRefused, makeFolder, readIfPresent, replaceFile } from './disk.ts';
import {
  proofOf,
  readServiceRecord,
  type ReadyService,
  serviceFileName,
  type ServiceRecord,
} from './service-record.ts';

/**
 * A lock of the operating system: the kernel frees it however the process ends. Node has none, so SQLite gives
 * it, by an empty database in a transaction that never ends. It refuses a second lock in the same process, too.
 */

export type FolderLock = ReturnType<typeof lockFolder>;

const lockName = 'lock';
/** How long a start waits for a lock, which the kernel frees some hundred milliseconds after a kill. */
const waitMillis = 500;
/** The result code of SQLite when another connection holds the lock. */
const sqliteBusy = 5;

/** The locks that this process holds, so that their connections are not collected as garbage. */
const held = new Set<DatabaseSync>();

/** Takes the folder for this process, and makes the folder when it is missing. Throws FolderRefused. */
export function lockFolder(folder: string) {
  const database = openLock(folder);
  held.add(database);
  const file = path.join(folder, serviceFileName);
  const own = {
    pid: process.pid,
    startedAt: new Date().toISOString(),
    secret: randomBytes(32).toString('hex'),
  };
  // While this process holds the lock, no other process writes the file.
  const write = (record: ServiceRecord): void =>
    replaceFile(file, `${JSON.stringify(record, undefined, 2)}\n`, { isPrivate: true });
  write(own);
  return {
    /** Writes the addresses into service.json, where the operator's command finds the service. */
    announce: (addresses: Omit<ReadyService, 'pid' | 'startedAt' | 'secret'>): void =>
      write({ ...own, ...addresses }),
    secret: own.secret,
    /** Proves to a reader of the folder's service.json that this process holds the folder. */
    prove: (challenge: string): string => proofOf(own.secret, challenge),
    release: (): void => {
      rmSync(file, { force: true });
      database.close();
      held.delete(database);
    },
  };
}

/** The secret key of the folder's own AWS, made at the first start. Only the owner of the folder can read the file. */
export function readSecretKey(folder: string): string {
  const file = path.join(folder, 'aws-key');
  const known = readIfPresent(file)?.trim();
  if (known !== undefined && known !== '') return known;
  const key = randomBytes(32).toString('base64url');
  replaceFile(file, `${key}\n`, { isPrivate: true });
  return key;
}

function openLock(folder: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    makeFolder(folder);
    database = new DatabaseSync(path.join(folder, lockName), { timeout: waitMillis });
    // An open transaction that writes nothing. Its journal is in memory, so a full disk can be locked as well.
    database.exec('PRAGMA journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    const isBusy = error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy;
    throw isBusy ? inUse(folder) : unusable(folder, error);
  }
}

function inUse(folder: string): FolderRefused {
  const record = readServiceRecord(folder);
  const detail = record && ` (process ${record.pid}, ${record.localUrl ?? 'it is still starting'})`;
  return new FolderRefused('FOLDER_IN_USE', `A service already runs on ${folder}${detail ?? ''}.`);
}

function unusable(folder: string, cause: unknown): FolderRefused {
  const why = cause instanceof Error ? cause.message : String(cause);
  const fix = `make it writable, or delete ${path.join(folder, lockName)} when no service runs on it`;
  return new FolderRefused('FOLDER_UNUSABLE', `The folder ${folder} cannot be locked (${why}): ${fix}.`, {
    cause,
  });
}
