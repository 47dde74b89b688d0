/**
 * A release as it is stored in test/fixtures/releases: the bundles of its functions, its state machine, and
 * the table that it left behind with creations in each state. `node test/fixtures/releases/write.ts COMMIT`
 * writes it.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import * as z from 'zod';

export const storedReleases = fileURLToPath(new URL('../fixtures/releases/', import.meta.url));

/** Addresses that differ from run to run have these names in the stored table. */
export const placeholders = { vendor: 'http://vendor.test', receiver: 'http://receiver.test' } as const;

/** Functions with the same code name the same bundle. */
const bundlesSchema = z.object({
  functions: z.record(z.string(), z.string()),
  texts: z.record(z.string(), z.string()),
});
export const leftSchema = z.object({
  /** Unix milliseconds at which the table was read. */
  at: z.number(),
  /** The items of the table, in the JSON of DynamoDB. */
  items: z.array(z.record(z.string(), z.record(z.string(), z.unknown()))),
  /** The inputs of the executions that ran then, by their names. */
  executions: z.record(z.string(), z.string()),
});

export interface StoredRelease {
  /** The folder of each function's bundle, by the name of its construct. */
  readonly bundles: ReadonlyMap<string, string>;
  /** The definition in Amazon States Language, with its substitutions open. */
  readonly definition: string;
  /** The table that the release left. `addresses` replaces the placeholders. */
  left(addresses: Readonly<Record<keyof typeof placeholders, string>>): z.output<typeof leftSchema>;
  remove(): Promise<void>;
}

/** Unpacks the bundles into a temporary folder. */
export async function openStoredRelease(commit: string): Promise<StoredRelease> {
  const stored = join(storedReleases, commit);
  const packed = brotliDecompressSync(await readFile(join(stored, 'bundles.json.br'))).toString();
  const { functions, texts } = bundlesSchema.parse(JSON.parse(packed));
  const folder = await mkdtemp(join(tmpdir(), `darkroom-${commit}-`));
  for (const [hash, text] of Object.entries(texts)) {
    await mkdir(join(folder, hash));
    await writeFile(join(folder, hash, 'index.mjs'), text);
  }
  const table = await readFile(join(stored, 'table.json'), 'utf8').catch(() => '');
  return {
    bundles: new Map(Object.entries(functions).map(([name, hash]) => [name, join(folder, hash)])),
    definition: await readFile(join(stored, 'definition.asl.json'), 'utf8'),
    left: ({ vendor, receiver }) =>
      leftSchema.parse(
        JSON.parse(table.replaceAll(placeholders.vendor, vendor).replaceAll(placeholders.receiver, receiver)),
      ),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
