/** The stored keys: one for each profile, in a file that only its owner can read. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from './complaint.ts';
import type { Io } from './io.ts';
import { configFolder, readObject, replacePrivate } from './private-files.ts';

interface Profile {
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
async function exposureOf(place: Place): Promise<string | undefined> {
  const file = configFile(place);
  const found = await stat(file).catch(() => undefined);
  if (!found || (found.mode & 0o077) === 0 || process.platform === 'win32') return undefined;
  return `Other users of this machine can read your keys: chmod 600 ${file}`;
}

/** A name that is also a part of a file name. */
function checkedName(name: string): string {
  if (/^[\w.-]{1,64}$/.test(name) && !name.startsWith('.')) return name;
  throw new CommandError(
    'usage',
    `The profile name ${JSON.stringify(name)} is not valid.`,
    'Use letters, digits, "-", "_" and ".".',
  );
}

/** Which key and which service a command uses. */
export interface Credentials extends Profile {
  readonly profile: string;
}

export function profileName({ env }: Pick<Io, 'env'>, wanted: string | undefined): string {
  return checkedName(wanted ?? (env['DARKROOM_PROFILE'] || 'default'));
}

/** Each variable of the environment overrides the profile. */
export async function credentialsOf(
  io: Pick<Io, 'env' | 'home' | 'err'>,
  wanted: string | undefined,
): Promise<Credentials> {
  const profile = profileName(io, wanted);
  const [keyOfEnv, urlOfEnv] = [io.env['DARKROOM_API_KEY'], io.env['DARKROOM_BASE_URL']];
  // With both variables, no file is needed: a container may have none that can be read.
  const stored = keyOfEnv && urlOfEnv ? undefined : (await readProfiles(io)).get(profile);
  const apiKey = keyOfEnv || stored?.apiKey;
  const baseUrl = urlOfEnv || stored?.baseUrl;
  if (!apiKey) {
    const login = profile === 'default' ? '`darkroom login`' : `\`darkroom login --profile ${profile}\``;
    throw new CommandError('auth', 'There is no API key.', `Run ${login}, or set DARKROOM_API_KEY.`);
  }
  if (!baseUrl) {
    throw new CommandError(
      'usage',
      'The address of the service is missing.',
      'Set DARKROOM_BASE_URL, or run `darkroom login --base-url URL`.',
    );
  }
  if (stored) await warn(io);
  return { profile, apiKey, baseUrl };
}

async function warn(io: Pick<Io, 'env' | 'home' | 'err'>): Promise<void> {
  const exposure = await exposureOf(io);
  if (exposure !== undefined) io.err.write(`${exposure}\n`);
}
