/** Where the command keeps its files (XDG), and how it writes them. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CommandError } from './complaint.ts';
import type { Io } from './io.ts';

type Place = Pick<Io, 'env' | 'home'>;

/** `$XDG_CONFIG_HOME/darkroom`, or `~/.config/darkroom`: what a person may edit and keep. */
export function configFolder({ env, home }: Place): string {
  return join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'darkroom');
}

/** `$XDG_STATE_HOME/darkroom`, or `~/.local/state/darkroom`: what the command remembers. */
export function stateFolder({ env, home }: Place): string {
  return join(env['XDG_STATE_HOME'] || join(home, '.local', 'state'), 'darkroom');
}

/** The text of a file. Undefined when there is none. */
async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A JSON object in a file. Undefined when there is no file. Throws with the fix when it is something else. */
export async function readObject(file: string, fix: string): Promise<Record<string, unknown> | undefined> {
  const text = await readIfThere(file);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // The sentence below says it. The parser's message could repeat a key.
  }
  throw new CommandError('failed', `${file} is not valid.`, fix);
}

/**
 * Replaces a file as a whole, readable by its owner alone. A crash leaves the old file or the new one. A link
 * to the file stays a link.
 */
async function replaceFile(named: string, content: string): Promise<void> {
  await replaceEntry(await realpath(named).catch(() => named), content, 0o600);
}

/** Replaces what the folder has under this name: a link itself, and never the file that the link names. */
export async function replaceEntry(file: string, content: string | Uint8Array, mode: number): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.part`;
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Like replaceFile, and makes the folder, which only its owner can open. */
export async function replacePrivate(file: string, content: string): Promise<void> {
  const folder = dirname(file);
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made !== undefined) await chmod(folder, 0o700);
  await replaceFile(file, content);
}
