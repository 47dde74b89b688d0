/**
 * The position of a listener in the log of events, on disk. The file's name holds the profile and a hash of
 * service and key, never the key.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootOf } from '../../src/options.ts';
import { CommandError } from '../complaint.ts';
import type { Io } from '../io.ts';
import { readObject, replacePrivate, stateFolder } from '../private-files.ts';
import type { Credentials } from '../profiles.ts';

export interface Place {
  /** The `next_cursor` after which the listener reads. */
  readonly after: string;
  /** The ids of the events after this cursor that the local server has taken. */
  readonly taken: readonly string[];
  /** `login` stored it. Only `--since` begins there. */
  readonly isOfLogin?: boolean;
}

export interface CursorStore {
  readonly file: string;
  read(): Promise<Place | undefined>;
  write(place: Place): Promise<void>;
  forget(): Promise<void>;
}

/** Identifies service and key without revealing them: the key has 107 random bits. */
export function listenerHash({ apiKey, baseUrl }: Pick<Credentials, 'apiKey' | 'baseUrl'>): string {
  return createHash('sha256')
    .update(`darkroom listen ${rootOf(baseUrl)} ${apiKey}`)
    .digest('hex')
    .slice(0, 20);
}

export function cursorStore(io: Pick<Io, 'env' | 'home'>, credentials: Credentials): CursorStore {
  const name = `${credentials.profile}-${listenerHash(credentials)}.json`;
  const file = join(stateFolder(io), 'listen', name);
  const fix = `Delete it to begin from now: events in between are then not forwarded.`;
  return {
    file,
    read: async () => {
      const found = await readObject(file, fix);
      if (!found) return undefined;
      const { after, taken, of_login: isOfLogin } = found;
      if (typeof after === 'string' && Array.isArray(taken)) {
        return { after, taken: taken.map(String), isOfLogin: isOfLogin === true };
      }
      throw new CommandError('failed', `${file} is not valid.`, fix);
    },
    write: async ({ after, taken, isOfLogin }) =>
      replacePrivate(
        file,
        `${JSON.stringify({ after, taken, ...(isOfLogin === true && { of_login: true }) })}\n`,
      ),
    forget: async () => rm(file, { force: true }),
  };
}

/**
 * Lets one listener at a time use a cursor: two would move it past events that the other has not forwarded.
 * The lock is a socket, so it ends with its process, however that ends.
 */
export interface Held {
  release(): Promise<void>;
}

/** Undefined when another process holds the name. */
export async function holdAlone(name: string): Promise<Held | undefined> {
  const path = process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`);
  const held = await tryHold(path);
  if (held || (await answers(path))) return held;
  // The socket of a killed process still exists, but does not answer.
  await rm(path, { force: true });
  return tryHold(path);
}

async function tryHold(path: string): Promise<Held | undefined> {
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen(path);
    await once(server, 'listening');
  } catch {
    return undefined;
  }
  // The lock alone keeps no process alive.
  server.unref();
  return {
    release: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
