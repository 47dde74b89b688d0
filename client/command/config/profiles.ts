/** The stored keys: one for each profile, in a file that only its owner can read. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { configFolder, readObject, replacePrivate } from './files.ts';

export interface Profile {
  readonly apiKey: string;
  readonly baseUrl: string;
}

type Place = Pick<Io, 'env' | 'home'>;

export function configFile(place: Place): string {
  return join(configFolder(place), 'config.json');
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** All complete profiles of the file. */
export async function readProfiles(place: Place): Promise<ReadonlyMap<string, Profile>> {
  const file = configFile(place);
  const config = await readObject(file, 'Mend or delete it, and run `darkroom login`.');
  const stored = Object.entries((config?.['profiles'] ?? {}) as Record<string, unknown>);
  return new Map(
    stored.flatMap(([name, value]): [string, Profile][] => {
      const { api_key: apiKey, base_url: baseUrl } = (value ?? {}) as Record<string, unknown>;
      return isText(apiKey) && isText(baseUrl) ? [[name, { apiKey, baseUrl }]] : [];
    }),
  );
}

/** Adds, replaces or, with undefined, removes a profile. */
export async function writeProfile(place: Place, name: string, profile: Profile | undefined): Promise<void> {
  const profiles = new Map(await readProfiles(place));
  if (profile) profiles.set(name, profile);
  else profiles.delete(name);
  const stored = Object.fromEntries(
    [...profiles].map(([one, { apiKey, baseUrl }]) => [one, { api_key: apiKey, base_url: baseUrl }]),
  );
  await replacePrivate(configFile(place), `${JSON.stringify({ profiles: stored }, undefined, 2)}\n`);
}

/** A sentence for the person when others can read the file of the keys. */
export async function exposureOf(place: Place): Promise<string | undefined> {
  const file = configFile(place);
  const found = await stat(file).catch(() => undefined);
  if (!found || (found.mode & 0o077) === 0 || process.platform === 'win32') return undefined;
  return `Other users of this machine can read your keys: chmod 600 ${file}`;
}

/** A name that is also a part of a file name. */
export function checkedName(name: string): string {
  if (/^[\w.-]{1,64}$/.test(name) && !name.startsWith('.')) return name;
  throw new CommandError(
    'usage',
    `The profile name ${JSON.stringify(name)} is not valid.`,
    'Use letters, digits, "-", "_" and ".".',
  );
}
