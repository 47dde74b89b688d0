/**
 * Where a listener stands in the log of events, on disk. The file's name holds the profile and a hash of
 * service and key, never the key.
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Credentials } from '../config/credentials.ts';
import { readObject, replacePrivate, stateFolder } from '../config/files.ts';
import { CommandError } from '../exit-codes.ts';
import { rootOf } from '../../src/options.ts';
import type { Io } from '../io.ts';

export interface Place {
  /** The `next_cursor` after which the listener reads. */
  readonly after: string;
  /** The ids of the events after this cursor that the local server has taken. */
  readonly taken: readonly string[];
  /** `login` noted it. Only `--since` looks back to there. */
  readonly isOfLogin?: boolean;
}

export interface CursorStore {
  readonly file: string;
  read(): Promise<Place | undefined>;
  write(place: Place): Promise<void>;
  forget(): Promise<void>;
}

/** Names service and key without telling them: the key has 107 random bits. */
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
