import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';

const recordSchema = z.object({
  pid: z.int(),
  startedAt: z.string(),
  port: z.int().optional(),
  apiUrl: z.string().optional(),
  localUrl: z.string().optional(),
  awsUrl: z.string().optional(),
  outputs: z.record(z.string(), z.string()).optional(),
});

/** What service.json says of the service that runs on a folder; addresses only once it is ready. */
export type ServiceRecord = z.output<typeof recordSchema>;

/** The folder's lock, held. */
export interface FolderLock {
  /** Tells the addresses, so that the operator's command finds the service. */
  readonly announce: (record: Omit<ServiceRecord, 'pid' | 'startedAt'>) => void;
  readonly release: () => void;
}

const FILE = 'service.json';

/** Another service runs on the folder. */
class FolderInUse extends Error {
  readonly code = 'FOLDER_IN_USE';
  constructor(folder: string, { pid, localUrl }: ServiceRecord) {
    super(`A service already runs on ${folder} (process ${pid}${localUrl === undefined ? '' : `, ${localUrl}`}).`);
  }
}

/** The service that runs on the folder, or undefined. */
function runningService(folder: string): ServiceRecord | undefined {
  const record = readRecord(path.join(folder, FILE));
  return record !== undefined && isAlive(record.pid) ? record : undefined;
}

/** Takes the folder for this process; one left by a killed process is taken over. Throws FolderInUse. */
export function lockFolder(folder: string): FolderLock {
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, FILE);
  const draft = path.join(folder, `${FILE}.${process.pid}`);
  const own = { pid: process.pid, startedAt: new Date().toISOString() };
  const write = (record: ServiceRecord): void => writeFileSync(draft, `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 });
  write(own);
  try {
    claim(folder, file, draft);
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    announce: (record) => {
      write({ ...own, ...record });
      renameSync(draft, file);
    },
    release: () => { if (readRecord(file)?.pid === process.pid) rmSync(file, { force: true }); },
  };
}

/** A link is made only where no file is: of two services that start at once, one gets the folder. */
function claim(folder: string, file: string, draft: string): void {
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      linkSync(draft, file);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = runningService(folder);
    if (holder !== undefined) throw new FolderInUse(folder, holder);
    rmSync(file, { force: true });
  }
  throw new Error(`could not take ${folder}: another service is starting on it`);
}

function readRecord(file: string): ServiceRecord | undefined {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined; // None, or a stranger's.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
