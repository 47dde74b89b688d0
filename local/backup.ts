/** A copy of the data folder as it was at one moment, made while the service goes on, and the check of such a copy. */
import { createHash } from 'node:crypto';
import { closeSync, createReadStream, existsSync, fstatSync, openSync, readdirSync, rmSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { type ObjectStore, objectFilesIn } from './aws/object-store.ts';
import type { Copied } from './service-record.ts';
import { FolderRefused, makeFolder, readIfPresent, replaceFile, syncFolder } from './disk.ts';

const manifestName = 'backup.json';
const version = 1;
const manifestSchema = z.object({
  version: z.int(),
  made_at: z.string(),
  files: z.array(z.object({ path: z.string(), bytes: z.int(), sha256: z.string() })),
});
export type Manifest = z.output<typeof manifestSchema>;

const tables = /^tables\/(journal|snapshot)-\d+\.jsonl$/;
/** All that a folder needs to start again, but for the objects. Everything else is of one process. */
const kept = [
  tables,
  /^(executions|objects|inbox)\.jsonl$/,
  /^(clock\.json|cloudfront\.json|demo\.json|aws-key)$/,
  /^lambda\/versions\.json$/,
  /^secrets\/s-[^/]+\.json$/,
];

/**
 * Copies the folder into an empty one. In one turn of the event loop, in which nothing is written, the files are opened
 * and measured. They only grow or are replaced, so the first bytes of an open file stay what they were.
 */
export async function backUp(
  folder: string,
  to: string,
  {
    objects,
    now,
    tell,
    tablesOnly = false,
  }: {
    readonly objects: Pick<ObjectStore, 'holdFiles'>;
    readonly now: () => number;
    readonly tell: (copied: Copied) => void;
    /** For an export, which reads the rest from the running service. */
    readonly tablesOnly?: boolean;
  },
): Promise<Manifest> {
  if (existsSync(to) && readdirSync(to).length > 0)
    throw new FolderRefused('FOLDER_UNUSABLE', `${to} is not empty: name a new folder.`);
  makeFolder(to, 0o700);
  const release = objects.holdFiles();
  const made_at = new Date(now()).toISOString();
  const opened = namesIn(folder, tablesOnly ? [tables] : kept).map((name) => {
    const handle = openSync(path.join(folder, name), 'r');
    return { name, handle, bytes: fstatSync(handle).size };
  });
  try {
    const files: Manifest['files'] = [];
    let copiedBytes = 0;
    const keep = async (handle: number, bytes: number, name: string): Promise<void> => {
      files.push(
        await copy(handle, bytes, to, name, (part) => {
          copiedBytes += part;
          tell({ files: files.length, bytes: copiedBytes });
        }),
      );
    };
    for (const { name, handle, bytes } of opened) await keep(handle, bytes, name);
    const index = tablesOnly ? '' : await readFile(path.join(to, 'objects.jsonl'), 'utf8');
    for (const name of objectFilesIn(index)) {
      const handle = openSync(path.join(folder, name), 'r');
      try {
        await keep(handle, fstatSync(handle).size, name);
      } finally {
        closeSync(handle);
      }
    }
    for (const name of new Set(files.map((file) => path.dirname(file.path)))) syncFolder(path.join(to, name));
    const manifest: Manifest = { version, made_at, files };
    // Without this file the copy is no backup.
    replaceFile(path.join(to, manifestName), JSON.stringify(manifest, undefined, 2), { isPrivate: true });
    return manifest;
  } finally {
    for (const { handle } of opened) closeSync(handle);
    await release();
  }
}

function namesIn(folder: string, wanted: readonly RegExp[]): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll(path.sep, '/'))
    .filter((name) => wanted.some((pattern) => pattern.test(name)));
}

async function copy(
  handle: number,
  bytes: number,
  to: string,
  name: string,
  onCopied: (bytes: number) => void,
): Promise<Manifest['files'][number]> {
  const target = path.join(to, name);
  makeFolder(path.dirname(target), 0o700);
  const hash = createHash('sha256');
  const written = await open(target, 'wx', 0o600);
  try {
    if (bytes > 0)
      for await (const chunk of createReadStream('', {
        fd: handle,
        start: 0,
        end: bytes - 1,
        autoClose: false,
      })) {
        hash.update(chunk as Buffer);
        await written.writeFile(chunk as Buffer);
        onCopied((chunk as Buffer).length);
      }
    await written.sync();
  } finally {
    await written.close();
  }
  return { path: name, bytes, sha256: hash.digest('hex') };
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Checks a folder that is a backup, once. Throws FolderRefused when a file is missing or differs. */
export async function checkRestored(folder: string): Promise<void> {
  if (await checkBackup(folder)) rmSync(path.join(folder, manifestName));
}

/** Undefined: the folder is no backup. Throws FolderRefused when a file is missing or differs. */
export async function checkBackup(folder: string): Promise<Manifest | undefined> {
  const text = readIfPresent(path.join(folder, manifestName));
  if (text === undefined) return undefined;
  const manifest = manifestSchema.parse(JSON.parse(text));
  const refuse = (why: string): never => {
    throw new FolderRefused('FOLDER_UNUSABLE', `The backup in ${folder} cannot be used: ${why}.`);
  };
  if (manifest.version > version) refuse(`it is of a newer release (its version is ${manifest.version})`);
  for (const { path: name, sha256 } of manifest.files) {
    const hash = await hashOf(path.join(folder, name)).catch(() => refuse(`${name} is missing`));
    if (hash !== sha256) refuse(`${name} differs from what was copied`);
  }
  return manifest;
}
