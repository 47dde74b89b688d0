import { NotFound } from '../../src/errors.ts';
import { readLine, readSecret } from '../ask.ts';
import { CommandError } from '../complaint.ts';
import { cursorStore } from '../listen/cursor-file.ts';
import { configFile, profileName, readProfiles, writeProfile } from '../profiles.ts';
import { clientOf, type SessionCommand, type Session } from '../session.ts';

export function addLoginCommands(program: SessionCommand): void {
  program
    .task('login', 'store an API key, which you type without an echo or pipe in')
    .option('--base-url <url>', 'the address of the service')
    .run(login);
  program.task('logout', 'remove the stored API key').run(logout);
}

async function login(session: Session, { baseUrl: wanted }: { baseUrl?: string }): Promise<void> {
  const { io, options, output } = session;
  const profile = profileName(io, options.profile);
  const baseUrl = wanted ?? (await addressFor(session, profile));
  const apiKey = await readSecret(`API key for ${baseUrl}: `, io);
  if (apiKey === '') {
    throw new CommandError('usage', 'No key was given.', 'Paste it at the question, or pipe it in.');
  }
  // A key that does not work is not stored.
  const client = clientOf({ apiKey, baseUrl }, io, session.note);
  const { available, currency } = await client.balance.get({ signal: io.signal });
  await writeProfile(io, profile, { apiKey, baseUrl });
  await rememberNow(session, { profile, apiKey, baseUrl });
  output.show(
    { profile, base_url: client.baseUrl, available, currency, stored_in: configFile(io) },
    io.env['DARKROOM_API_KEY'] ? 'DARKROOM_API_KEY is set, and wins over what is stored.' : undefined,
  );
}

async function addressFor({ io }: Session, profile: string): Promise<string> {
  const known = io.env['DARKROOM_BASE_URL'] || (await readProfiles(io)).get(profile)?.baseUrl;
  if (known) return known;
  const answer = io.input.isTTY === true ? await readLine('Address of the service: ', io) : '';
  if (answer !== '') return answer;
  throw new CommandError('usage', 'The address of the service is missing.', 'Add --base-url URL.');
}

/** Stores where the log of events ends now, so that the first `listen --since` can begin here. */
async function rememberNow(session: Session, credentials: Parameters<typeof cursorStore>[1]): Promise<void> {
  const { io } = session;
  const store = cursorStore(io, credentials);
  if ((await store.read()) !== undefined) return;
  try {
    const page = await clientOf(credentials, io, session.note).events.list({}, { signal: io.signal });
    await store.write({ after: page.next_cursor, taken: [], isOfLogin: true });
  } catch (error) {
    // An older service has no events. The login itself has succeeded.
    if (!(error instanceof NotFound)) throw error;
  }
}

async function logout({ io, options, output }: Session): Promise<void> {
  const profile = profileName(io, options.profile);
  if (!(await readProfiles(io)).has(profile)) {
    throw new CommandError('failed', `The profile ${profile} has no stored key.`);
  }
  await writeProfile(io, profile, undefined);
  output.show({ profile, removed_from: configFile(io) });
}
