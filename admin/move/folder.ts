/** The folder of an export: its manifest, and files that only their owner can read. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { OperatorError } from '../operator-error.ts';

export const manifestName = 'export.json';
const version = 1;

const fileSchema = z.object({
  // No path leads out of the folder.
  path: z.string().regex(/^(?!.*\.\.)\w[\w./-]*$/),
  bytes: z.int(),
  sha256: z.string(),
});
export type ExportedFile = z.output<typeof fileSchema>;

/** What the audit counted, and what all accounts together can spend. Money is in micro-dollars. */
export const booksSchema = z.object({
  accounts: z.int(),
  creations: z.int(),
  ledger_rows: z.int(),
  available_micros: z.int(),
  credit_line_micros: z.int(),
});
export type Books = z.output<typeof booksSchema>;

const manifestSchema = z.object({
  format: z.literal('darkroom-export'),
  version: z.literal(version),
  made_at: z.string(),
  results_base_url: z.string(),
  items: z.record(z.string(), z.int()),
  books: booksSchema,
  images: z.int(),
  /** Images that records name and the bucket no longer had. */
  images_missing: z.int(),
  files: z.array(fileSchema),
});
export type Manifest = z.output<typeof manifestSchema>;

/** An image of the bucket, as the service stores it (service/creations/image-store.ts). */
export const imageSchema = z.object({
  key: z.string().regex(/^(results|uploads)\/[\w./-]+$/),
  width: z.int(),
  height: z.int(),
  contentType: z.string(),
  bytes: z.int(),
  contentCredentials: z.enum(['present', 'absent']).exactOptional(),
  expiresAt: z.number().exactOptional(),
});
export type CarriedImage = z.output<typeof imageSchema>;

/** The values of the two secrets without which records cannot be used, the newest last. */
export const secretsSchema = z.record(
  z.enum(['encryption', 'providers']),
  z.array(z.object({ id: z.string(), text: z.string() })),
);
export type CarriedSecrets = z.output<typeof secretsSchema>;

/** Writes a new file in pieces. @returns its size and hash, once it is on disk */
export async function writeParts(
  folder: string,
  name: string,
  parts: Iterable<string | Uint8Array>,
): Promise<ExportedFile> {
  const target = path.join(folder, name);
  await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
  const hash = createHash('sha256');
  const file = await open(target, 'wx', 0o600);
  let bytes = 0;
  try {
    for (const part of parts) {
      const piece = Buffer.from(part as Uint8Array);
      hash.update(piece);
      bytes += piece.length;
      await file.writeFile(piece);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { path: name, bytes, sha256: hash.digest('hex') };
}

export function manifestText(manifest: Omit<Manifest, 'format' | 'version'>): string {
  return JSON.stringify({ format: 'darkroom-export', version, ...manifest }, undefined, 2);
}

/** The manifest and its own hash, which names the export. Throws OperatorError. */
export async function readManifest(folder: string): Promise<{ manifest: Manifest; id: string }> {
  const text = await readFile(path.join(folder, manifestName), 'utf8').catch(() => undefined);
  if (text === undefined)
    throw new OperatorError(
      `${folder} holds no whole export: ${manifestName} is missing. Name the folder of \`export --to\`.`,
    );
  const { data: manifest } = manifestSchema.safeParse(parsed(text));
  if (!manifest)
    throw new OperatorError(
      `${path.join(folder, manifestName)} is no manifest of version ${version}: import with the release that exported.`,
    );
  return { manifest, id: createHash('sha256').update(text).digest('hex') };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Compares every file with the manifest. Throws OperatorError. */
export async function checkFiles(
  folder: string,
  files: readonly ExportedFile[],
  onFile: (done: number) => void,
): Promise<void> {
  for (const [done, { path: name, sha256 }] of files.entries()) {
    const hash = createHash('sha256');
    try {
      for await (const chunk of createReadStream(path.join(folder, name))) hash.update(chunk as Buffer);
    } catch (error) {
      throw new OperatorError(`${name} of the export cannot be read: export again.`, {}, { cause: error });
    }
    if (hash.digest('hex') !== sha256)
      throw new OperatorError(
        `${name} differs from what was exported: export again, or copy the folder again.`,
      );
    onFile(done + 1);
  }
}
