import { createHash, randomBytes } from 'node:crypto';
import { linkSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { hasErrorCode } from '../error-code.ts';
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
 * place. All its work is synchronous, so no other work comes between.
 */
export interface ObjectIndex {
  readonly find: (bucket: string, key: string) => ObjectRecord | undefined;
  /** Lists in the order of S3, by the bytes of the key. */
  readonly list: (bucket: string, prefix: string) => readonly ObjectRecord[];
  readonly write: (
    bucket: string,
    record: ObjectRecord,
    options: { readonly onlyIfAbsent: boolean },
  ) => { readonly refused: boolean; readonly replaced?: ObjectRecord | undefined };
  readonly remove: (bucket: string, key: string) => ObjectRecord | undefined;
}

/** Opens the index of all buckets in the folder. */
export function createObjectIndex(folder: string): ObjectIndex {
  const indexOf = (bucket: string): string => path.join(folder, bucket, '.index');
  const entryOf = (bucket: string, key: string): string => path.join(indexOf(bucket), entryName(key));
  const find = (bucket: string, key: string): ObjectRecord | undefined => readRecord(entryOf(bucket, key));

  return {
    find,
    list: (bucket, prefix) =>
      entriesOf(indexOf(bucket))
        .map((name) => readRecord(path.join(indexOf(bucket), name)))
        .flatMap((record) => (record?.key.startsWith(prefix) === true ? [record] : []))
        .sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key))),
    write: (bucket, record, { onlyIfAbsent }) => {
      const name = `~${randomBytes(6).toString('hex')}`;
      const draft = path.join(indexOf(bucket), name);
      writeInFolder(indexOf(bucket), name, JSON.stringify(record));
      const entry = entryOf(bucket, record.key);
      if (onlyIfAbsent) return { refused: !placeIfAbsent(draft, entry) };
      const replaced = readRecord(entry);
      renameSync(draft, entry);
      return { refused: false, replaced };
    },
    remove: (bucket, key) => {
      const record = find(bucket, key);
      rmSync(entryOf(bucket, key), { force: true });
      return record;
    },
  };
}

/** The names of the entries in a folder. Drafts and a missing folder count as none. */
function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith('~'));
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return [];
    throw error;
  }
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

function readRecord(file: string): ObjectRecord | undefined {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Puts the draft in place unless the entry exists. link() refuses an existing name, while rename() would
 * replace it.
 */
function placeIfAbsent(draft: string, entry: string): boolean {
  try {
    linkSync(draft, entry);
    return true;
  } catch (error) {
    if (hasErrorCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
