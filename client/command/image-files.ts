/** Downloads the images of a creation into files, and shows them to a person. */
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Darkroom } from '../src/darkroom.ts';
import type { CompletedCreation } from '../src/types/generated.ts';
import { checkedId, checkedImageType } from './checked.ts';
import { CommandError } from './complaint.ts';
import type { Io } from './io.ts';
import { replaceEntry } from './private-files.ts';
import type { Session } from './session.ts';

/** Shows an image in terminals that can: the protocols of iTerm2 and of kitty. */
export type Protocol = 'iterm2' | 'kitty';

/** The most base64 that kitty takes in one escape code. */
const kittyChunk = 4096;

/** The programs that understand a protocol, by the variables that they set. */
const programs: Readonly<Record<string, Protocol>> = {
  'iTerm.app': 'iterm2',
  WezTerm: 'iterm2',
  mintty: 'iterm2',
  ghostty: 'kitty',
};
const terminals: Readonly<Record<string, Protocol>> = { 'xterm-kitty': 'kitty', 'xterm-ghostty': 'kitty' };

/** Undefined when the terminal shows no images. tmux and screen swallow both protocols. */
function protocolOf({ env }: Pick<Io, 'env'>): Protocol | undefined {
  if (env['TMUX'] || env['STY'] || /^(screen|tmux)/.test(env['TERM'] ?? '')) return undefined;
  if (env['KITTY_WINDOW_ID']) return 'kitty';
  return (
    terminals[env['TERM'] ?? ''] ??
    programs[env['TERM_PROGRAM'] ?? ''] ??
    (env['LC_TERMINAL'] === 'iTerm2' ? 'iterm2' : undefined)
  );
}

/** The escape codes that show the image. Undefined when the protocol has no such format: kitty takes PNG. */
function inlineImage(protocol: Protocol, bytes: Uint8Array, contentType: string): string | undefined {
  const data = Buffer.from(bytes).toString('base64');
  if (protocol === 'iterm2') {
    return `\u001b]1337;File=inline=1;size=${bytes.length};width=40;preserveAspectRatio=1:${data}\u0007\n`;
  }
  if (contentType !== 'image/png') return undefined;
  const chunks = data.match(new RegExp(`.{1,${kittyChunk}}`, 'g')) ?? [];
  const parts = chunks.map((chunk, index) => {
    const more = index < chunks.length - 1 ? 1 : 0;
    // a=T: send and show. f=100: PNG. c: columns. q=2: no answer, which would appear as typed text.
    return `\u001b_G${index === 0 ? 'a=T,f=100,c=40,q=2,' : ''}m=${more};${chunk}\u001b\\`;
  });
  return `${parts.join('')}\n`;
}

const endings: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
};
const formats: Readonly<Record<string, 'png' | 'jpeg' | 'webp'>> = {
  png: 'png',
  jpg: 'jpeg',
  jpeg: 'jpeg',
  webp: 'webp',
};

/** The output_format that the ending of a file name asks for. */
export function formatOf(file: string | undefined): 'png' | 'jpeg' | 'webp' | undefined {
  return formats[/\.(\w+)$/.exec(file ?? '')?.[1]?.toLowerCase() ?? ''];
}

/** Where the images go. Refuses a path that cannot be written, before anything is paid. */
export interface Target {
  /** The path of image number `index` (0 is the first) of a creation. */
  path(creation: CompletedCreation, index: number): string;
}

/** @param count of creations that share the path */
export async function targetOf({ io }: Session, output: string | undefined, count = 1): Promise<Target> {
  let saved = 0;
  const wanted = output === undefined ? io.folder : resolve(io.folder, output);
  const found = await stat(wanted).catch(() => undefined);
  const isFolder = found?.isDirectory() === true;
  await mustBeWritable(isFolder ? wanted : dirname(wanted));
  return {
    path: ({ id, results }, index) => {
      saved += 1;
      const isNumbered = results.length > 1 || (count > 1 && !isFolder);
      const number = isNumbered ? `-${isFolder ? index + 1 : saved}` : '';
      if (!isFolder) return number === '' ? wanted : wanted.replace(/(\.\w+)?$/, `${number}$1`);
      const name = checkedId(id);
      const type = checkedImageType(results[index]?.content_type);
      return join(wanted, `${name}${number}.${endings[type] ?? 'bin'}`);
    },
  };
}

/** A folder can refuse a file for many reasons, so a small folder is made in it and removed. */
async function mustBeWritable(folder: string): Promise<void> {
  try {
    await rm(await mkdtemp(join(folder, '.darkroom-')), { recursive: true });
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    const fix =
      code === 'ENOENT' ? 'Make the folder, or choose another one with -o.' : 'Choose another place with -o.';
    throw new CommandError('usage', `Nothing can be written into ${folder} (${code}).`, fix, { cause });
  }
}

/** Saves every image of the creation, and returns the paths in the order of the results. */
export async function saveImages(
  { io, options }: Session,
  client: Darkroom,
  creation: CompletedCreation,
  { target, shows }: { readonly target: Target; readonly shows: boolean },
): Promise<readonly string[]> {
  const files: string[] = [];
  for (const [index, result] of creation.results.entries()) {
    const file = target.path(creation, index);
    const blob = await client.results.download(result, { signal: io.signal });
    const bytes = new Uint8Array(await blob.arrayBuffer());
    // As every program does, the person's umask decides who may read the picture.
    await replaceEntry(file, bytes, 0o666);
    files.push(file);
    const protocol = shows && options.json !== true && io.err.isTTY ? protocolOf(io) : undefined;
    const shown = protocol && inlineImage(protocol, bytes, result.content_type);
    if (shown !== undefined) io.err.write(shown);
  }
  return files;
}

/** Opens a source image of this machine. */
export async function imageFile({ folder }: Pick<Io, 'folder'>, file: string): Promise<Blob> {
  try {
    return await openAsBlob(resolve(folder, file));
  } catch (cause) {
    throw new CommandError('usage', `${file} cannot be read.`, 'Give the path of an image, or a URL.', {
      cause,
    });
  }
}
