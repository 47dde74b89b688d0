/** The template that the one machine serves: synthesized anew when what it is made of has changed. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'darkroom');
const unusedMillis = 24 * 60 * 60 * 1000;
const sources = [
  'adapters',
  'bin/darkroom.ts',
  'admin/catalog',
  'catalog',
  'config',
  'core',
  'functions',
  'lib',
  'statemachines',
  'cdk.json',
  'package-lock.json',
];

/** The exit code of bin/darkroom.ts when a catalog or settings file is wrong; its stderr then says what is wrong. */
export const REFUSED_INPUT = 2;

/** A catalog or settings file is wrong; the message has one sentence for each field. */
export class InputRefused extends Error {
  override readonly name = 'InputRefused';
}

/** What the command line of the CDK sets by itself: resources name their assets and their constructs. */
const commandLineContext = { 'aws:cdk:enable-asset-metadata': true, 'aws:cdk:enable-path-metadata': true };

/** The path of the stack's template, its bundles beside it. Takes some ten seconds when something changed, else none. */
export async function synthesizedTemplate(
  progress: (line: string) => void = () => undefined,
): Promise<string> {
  const folder = join(cache, (await fingerprint()).slice(0, 16));
  if (!existsSync(folder)) {
    progress('Synthesizing the stack and bundling its functions …');
    await synthesize(folder);
  }
  await keep(folder);
  return join(folder, 'Darkroom.template.json');
}

/** Notes that this one is in use; those that nobody used for a day go. */
async function keep(folder: string): Promise<void> {
  const now = new Date();
  await utimes(folder, now, now);
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const used = await stat(path).catch(() => undefined);
    if (used && now.getTime() - used.mtimeMs > unusedMillis) await rm(path, { recursive: true, force: true });
  }
}

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  for (const source of sources) {
    const path = join(root, source);
    const names = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => undefined);
    const files = names
      ? names.filter((name) => name.isFile()).map((name) => join(name.parentPath, name.name))
      : [path];
    for (const file of files.sort())
      hash
        .update(file.slice(root.length))
        .update('\0')
        .update(await readFile(file))
        .update('\0');
  }
  return hash.digest('hex');
}

/** What the synthesis says of a catalog or settings that are wrong; undefined for every other error. */
function refusalOf(error: unknown): InputRefused | undefined {
  const { code, stderr } = error as { readonly code?: unknown; readonly stderr?: unknown };
  if (code !== REFUSED_INPUT || typeof stderr !== 'string') return undefined;
  return new InputRefused(stderr.trim(), { cause: error });
}

/** Into a folder of its own first, so that a broken run leaves nothing that looks whole. */
async function synthesize(folder: string): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, 'synth-'));
  const { context } = JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8')) as { context: object };
  try {
    await promisify(execFile)(process.execPath, ['bin/darkroom.ts'], {
      cwd: root,
      env: {
        ...process.env,
        CDK_OUTDIR: fresh,
        CDK_CONTEXT_JSON: JSON.stringify({ ...context, ...commandLineContext }),
      },
      maxBuffer: 64 * 1024 * 1024,
    }).catch((error: unknown) => {
      throw refusalOf(error) ?? error;
    });
    await rename(fresh, folder).catch((error: unknown) => {
      // Another start synthesized the same at the same time: one is as good as the other.
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}
