import { createHash, randomBytes } from 'node:crypto';
import { link, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { hasErrorCode } from '../error-code.ts';
import { createMutex } from './mutex.ts';
import { writeInFolder } from './write-in-folder.ts';

const recordSchema = z.object({
  key: z.string(),
  /** The name of the file with the bytes, in the bucket's folder. */
  file: z.string(),
  size: z.int(),
  writtenAtMs: z.number(),
  etag: z.string(),
  crc32: z.string(),
  contentType: z.string(),
  cacheControl: z.string().optional(),
  contentDisposition: z.string().optional(),
  metadata: z.record(z.string(), z.string()),
});

/** The facts about an object besides its bytes. Files of a data folder hold them under these names. */
export type ObjectRecord = z.output<typeof recordSchema>;

/**
 * The index of the objects that exist. Each has one small file in `<bucket>/.index/`, which a rename puts in
 * place.
 */
export interface ObjectIndex {
  readonly find: (bucket: string, key: string) => Promise<ObjectRecord | undefined>;
  /** Lists in the order of S3, by the bytes of the key. */
  readonly list: (bucket: string, prefix: string) => Promise<readonly ObjectRecord[]>;
  readonly write: (
    bucket: string,
    record: ObjectRecord,
    options: { readonly onlyIfAbsent: boolean },
  ) => Promise<{ readonly refused: boolean; readonly replaced?: ObjectRecord | undefined }>;
  readonly remove: (bucket: string, key: string) => Promise<ObjectRecord | undefined>;
}

/** Opens the index of all buckets in the folder. */
export function createObjectIndex(folder: string): ObjectIndex {
  const exclusive = createMutex();
  const indexOf = (bucket: string): string => path.join(folder, bucket, '.index');
  const entryOf = (bucket: string, key: string): string => path.join(indexOf(bucket), entryName(key));
  const find = (bucket: string, key: string): Promise<ObjectRecord | undefined> =>
    readRecord(entryOf(bucket, key));

  return {
    find,
    list: async (bucket, prefix) => {
      const names = await readdir(indexOf(bucket)).catch(() => []);
      const entries = names.filter((name) => !name.startsWith('~'));
      const records = await Promise.all(entries.map((name) => readRecord(path.join(indexOf(bucket), name))));
      return records
        .flatMap((record) => (record?.key.startsWith(prefix) === true ? [record] : []))
        .sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
    },
    write: (bucket, record, { onlyIfAbsent }) =>
      exclusive(async () => {
        const name = `~${randomBytes(6).toString('hex')}`;
        const draft = path.join(indexOf(bucket), name);
        await writeInFolder(indexOf(bucket), name, JSON.stringify(record));
        const entry = entryOf(bucket, record.key);
        if (onlyIfAbsent) return { refused: !(await placeIfAbsent(draft, entry)) };
        const replaced = await readRecord(entry);
        await rename(draft, entry);
        return { refused: false, replaced };
      }),
    remove: (bucket, key) =>
      exclusive(async () => {
        const record = await find(bucket, key);
        await rm(entryOf(bucket, key), { force: true });
        return record;
      }),
  };
}

/**
 * A file name for the key. `/` and a leading `.` or `~` are escaped, and a long key is hashed, so that no key
 * leads out of the folder.
 */
function entryName(key: string): string {
  const escaped = encodeURIComponent(key).replace(
    /^[.~]/,
    (first) => `%${first.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return escaped.length <= 200
    ? escaped
    : `${escaped.slice(0, 100)}~${createHash('sha256').update(key).digest('hex')}`;
}

async function readRecord(file: string): Promise<ObjectRecord | undefined> {
  try {
    return recordSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Puts the draft in place unless the entry exists. link() refuses an existing name, while rename() would
 * replace it.
 */
async function placeIfAbsent(draft: string, entry: string): Promise<boolean> {
  try {
    await link(draft, entry);
    return true;
  } catch (error) {
    if (hasErrorCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}
