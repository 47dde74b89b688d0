/** The template of the service on one machine, synthesized again when a source has changed. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as z from 'zod';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'darkroom');
const cdkSchema = z.object({ context: z.record(z.string(), z.unknown()) });
const unusedMillis = 24 * 60 * 60 * 1000;
const sources = [
  'admin/catalog',
  'bin/darkroom.ts',
  ...['bin', 'build.ts', 'command', 'pack.ts', 'package.json', 'README.md', 'src'].map(
    (name) => `client/${name}`,
  ),
  'docs/openapi.json',
  'docs/operator-openapi.json',
  'functions',
  'lib',
  'portal',
  'service',
  'statemachines',
  'cdk.json',
  'package-lock.json',
];

/** The exit code of bin/darkroom.ts for a wrong file of service/catalog/ or lib/config/. */
export const refusedInputCode = 2;

/** A file of service/catalog/ or lib/config/ is wrong. The message has one sentence for each wrong field. */
export class InputRefused extends Error {
  override readonly name = 'InputRefused';
}

/**
 * With this context the template takes payments and signs addresses of results, whatever the stage says: one machine
 * has a fake of Stripe, and imitates the keys.
 */
export const oneMachineContext = 'darkroom:one-machine';

/** The CDK's command line sets this context. With it, each resource names its asset and its construct. */
const commandLineContext = { 'aws:cdk:enable-asset-metadata': true, 'aws:cdk:enable-path-metadata': true };

/** Returns the path of the stack's template, with the bundles beside it. */
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

/** Marks this template as used, and removes the templates that were not used for a day. */
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

/** A synthesis's error as InputRefused, when a file of service/catalog/ or lib/config/ is wrong. */
function refusalOf(error: unknown): InputRefused | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('stderr' in error)) return undefined;
  if (error.code !== refusedInputCode || typeof error.stderr !== 'string') return undefined;
  return new InputRefused(error.stderr.trim(), { cause: error });
}

/** Synthesizes into a temporary folder and renames it, so that a broken run leaves no template. */
async function synthesize(folder: string): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, 'synth-'));
  const { context } = cdkSchema.parse(JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8')));
  try {
    await promisify(execFile)(process.execPath, ['bin/darkroom.ts'], {
      cwd: root,
      env: {
        ...process.env,
        CDK_OUTDIR: fresh,
        // CDK's own check of the template takes two seconds. `cdk synth` makes the check, and so does a test.
        CDK_VALIDATION: 'false',
        CDK_CONTEXT_JSON: JSON.stringify({ ...context, ...commandLineContext, [oneMachineContext]: true }),
      },
      maxBuffer: 64 * 1024 * 1024,
    }).catch((error: unknown) => {
      throw refusalOf(error) ?? error;
    });
    await rename(fresh, folder).catch((error: unknown) => {
      // Another process synthesized the same template at the same time, and its result is just as good.
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}
