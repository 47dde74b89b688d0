/** Which key and which service a command uses. */
import { CommandError } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { checkedName, exposureOf, readProfiles, type Profile } from './profiles.ts';

export interface Credentials extends Profile {
  readonly profile: string;
}

export function profileName({ env }: Pick<Io, 'env'>, wanted: string | undefined): string {
  return checkedName(wanted ?? (env['DARKROOM_PROFILE'] || 'default'));
}

/** The environment wins over the profile, each variable by itself. */
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
