import * as z from 'zod';
import type { OnWriteFailed } from '../disk-errors.ts';
import { openJournal } from '../journal.ts';
import { type AwsCall, type AwsOutput, parseInput } from './aws-call.ts';
import type { ListedObject } from './s3-protocol.ts';

/** The facts about an object besides its bytes. The journal of a data folder holds them under these names. */
export interface ObjectRecord {
  readonly key: string;
  /** The name of the file with the bytes, in the bucket's folder. */
  readonly file: string;
  readonly size: number;
  readonly writtenAtMs: number;
  readonly etag: string;
  readonly crc32: string;
  readonly contentType: string;
  readonly cacheControl?: string | undefined;
  readonly expires?: string | undefined;
  readonly contentDisposition?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

/** An object that was written, or the key of an object that was deleted. */
type Entry =
  | { readonly bucket: string; readonly put: ObjectRecord }
  | { readonly bucket: string; readonly removed: string };

/**
 * The index of the objects that exist. It is in memory, and a journal keeps it. A change is in the journal
 * before its method returns, so it survives kill -9.
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
  readonly close: () => void;
}

/** Opens the index of all buckets in the folder. Its journal lies beside the folder, as FOLDER.jsonl. */
export function openObjectIndex(folder: string, onWriteFailed?: OnWriteFailed): ObjectIndex {
  const buckets = new Map<string, Map<string, ObjectRecord>>();
  const objectsOf = (bucket: string): Map<string, ObjectRecord> => {
    const objects = buckets.get(bucket) ?? new Map<string, ObjectRecord>();
    buckets.set(bucket, objects);
    return objects;
  };
  const apply = (entry: Entry): void => {
    if ('put' in entry) objectsOf(entry.bucket).set(entry.put.key, entry.put);
    else objectsOf(entry.bucket).delete(entry.removed);
  };
  const present = (): Entry[] =>
    [...buckets].flatMap(([bucket, objects]) => [...objects.values()].map((put) => ({ bucket, put })));
  const replay = (entries: readonly Entry[]): Entry[] => {
    for (const entry of entries) apply(entry);
    return present();
  };
  const { journal } = openJournal<Entry>(`${folder}.jsonl`, replay, onWriteFailed);
  const keep = (entry: Entry): void => {
    journal.append(entry);
    apply(entry);
  };

  const find: ObjectIndex['find'] = (bucket, key) => buckets.get(bucket)?.get(key);
  return {
    find,
    list: (bucket, prefix) =>
      [...(buckets.get(bucket)?.values() ?? [])]
        .filter(({ key }) => key.startsWith(prefix))
        .sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key))),
    write: (bucket, record, { onlyIfAbsent }) => {
      const replaced = find(bucket, record.key);
      if (onlyIfAbsent && replaced !== undefined) return { refused: true };
      keep({ bucket, put: record });
      return { refused: false, replaced };
    },
    remove: (bucket, key) => {
      const removed = find(bucket, key);
      if (removed !== undefined) keep({ bucket, removed: key });
      return removed;
    },
    close: () => journal.close(),
  };
}

const schema = z.object({
  Bucket: z.string(),
  Prefix: z.string().default(''),
  MaxKeys: z.int().min(0).max(1000).default(1000),
  ContinuationToken: z.string().optional(),
});

/** ListObjectsV2: one page of the keys with a prefix. The token holds the last key of the page before. */
export function listObjects(index: ObjectIndex, call: AwsCall): AwsOutput {
  const { Bucket, Prefix, MaxKeys, ContinuationToken } = parseInput(schema, call);
  const after = Buffer.from(ContinuationToken ?? '', 'base64url');
  const records = index
    .list(Bucket, Prefix)
    .filter((record) => Buffer.compare(Buffer.from(record.key), after) > 0);
  const page = records.slice(0, MaxKeys);
  const last = page.at(-1);
  const truncated = last !== undefined && page.length < records.length;
  const Contents = page.map((record): ListedObject => ({
    Key: record.key,
    Size: record.size,
    ETag: record.etag,
    LastModified: new Date(record.writtenAtMs),
  }));
  return {
    Name: Bucket,
    Prefix,
    MaxKeys,
    IsTruncated: truncated,
    Contents,
    ...(truncated && { NextContinuationToken: Buffer.from(last.key).toString('base64url') }),
  };
}
