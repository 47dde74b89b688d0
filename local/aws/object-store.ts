/** The stand-in of S3: whole objects in a folder, listings by prefix, and expiry. */
import { createHash, randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { hasErrorCode, inGroups, isOfDisk, makeFolder, type OnWriteFailed } from '../disk.ts';
import { realFiles } from '../dynamodb/journal/file-operations.ts';
import { entriesOf, openJournal } from '../journal.ts';
import { type AwsOutput, type AwsService, parseInput, serviceOf } from './aws-call.ts';
import { AwsError } from './aws-error.ts';
import { crc32Base64, type ListedObject } from './s3-protocol.ts';

/** The facts about an object besides its bytes. The journal of a data folder holds them under these names. */
interface ObjectRecord {
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

/** An object as the stand-in of CloudFront serves it. */
export interface StoredObject extends Pick<
  ObjectRecord,
  'contentType' | 'cacheControl' | 'expires' | 'etag'
> {
  readonly body: Buffer;
  readonly lastModified: Date;
}

export interface ObjectStore {
  /** PutObject, GetObject, HeadObject, DeleteObject, ListObjectsV2. */
  readonly service: AwsService;
  readonly read: (bucket: string, key: string) => Promise<StoredObject | undefined>;
  /** Deletes the objects last written more than that many days ago. Resolves with their number. */
  readonly expire: (bucket: string, prefix: string, olderThanDays: number) => Promise<number>;
  /** Keeps the files of objects that are replaced or deleted, until the returned function is called. */
  readonly holdFiles: () => () => Promise<void>;
  readonly close: () => void;
}

const dayMillis = 86_400_000;

const location = z.object({
  Bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/),
  Key: z.string().min(1).max(1024),
});
const putObject = location.extend({
  Body: z.instanceof(Uint8Array),
  ContentType: z.string().default('application/octet-stream'),
  CacheControl: z.string().optional(),
  Expires: z.string().optional(),
  ContentDisposition: z.string().optional(),
  Metadata: z.record(z.string(), z.string()).default({}),
  IfNoneMatch: z.literal('*').optional(),
});
const listing = z.object({
  Bucket: z.string(),
  Prefix: z.string().default(''),
  MaxKeys: z.int().min(0).max(1000).default(1000),
  ContinuationToken: z.string().default(''),
});

/** Keeps each object's bytes in a file of its own, which ends like the key. An object exists once the index has it. */
export function createObjectStore(
  folder: string,
  { now, onWriteFailed }: { readonly now: () => number; readonly onWriteFailed?: OnWriteFailed },
): ObjectStore {
  const index = openIndex(`${folder}.jsonl`, onWriteFailed);
  const fileOf = (bucket: string, { file }: ObjectRecord): string => path.join(folder, bucket, file);

  /** While a backup copies the folder, files stay. The lists are those of the backups under way. */
  const held = new Set<string[]>();
  async function discard(file: string): Promise<void> {
    const [list] = held;
    if (list) list.push(file);
    else await rm(file, { force: true });
  }
  const syncs = new Map<string, () => Promise<void>>();
  /** Resolves once the names of the bucket's files are on disk. */
  const namesSettled = (bucket: string): Promise<void> => {
    const sync = syncs.get(bucket) ?? inGroups(() => realFiles.syncFolder(path.join(folder, bucket)));
    syncs.set(bucket, sync);
    return sync();
  };

  async function put(input: z.output<typeof putObject>): Promise<AwsOutput> {
    const { Bucket, Key, Body } = input;
    const ending = path.posix.basename(Key).replace(/[^\w.-]/g, '_');
    const record: ObjectRecord = {
      key: Key,
      file: `${randomBytes(6).toString('hex')}-${ending.slice(-80)}`,
      size: Body.length,
      writtenAtMs: now(),
      etag: `"${createHash('md5').update(Body).digest('hex')}"`,
      crc32: crc32Base64(Body),
      contentType: input.ContentType,
      cacheControl: input.CacheControl,
      expires: input.Expires,
      contentDisposition: input.ContentDisposition,
      metadata: input.Metadata,
    };
    // No index entry names this file yet. After a crash before the entry is written, the object is as it was.
    await write(fileOf(Bucket, record), Body);
    await namesSettled(Bucket);
    const before = index.find(Bucket, Key);
    const isRefused = input.IfNoneMatch === '*' && before !== undefined;
    if (!isRefused) index.put(Bucket, record);
    const leftover = isRefused ? record : before;
    // The object is on disk before its entry, and the entry before the answer.
    if (!isRefused) await index.settled();
    if (leftover !== undefined) await discard(fileOf(Bucket, leftover));
    if (isRefused)
      throw new AwsError(
        'PreconditionFailed',
        'At least one of the pre-conditions you specified did not hold',
        { status: 412 },
      );
    return { ETag: record.etag, ChecksumCRC32: record.crc32 };
  }

  async function load(
    bucket: string,
    key: string,
  ): Promise<{ record: ObjectRecord; body: Buffer } | undefined> {
    // A PutObject may replace the object between the two reads. The index then names the new file.
    for (;;) {
      const record = index.find(bucket, key);
      if (record === undefined) return undefined;
      const body = await readFile(fileOf(bucket, record)).catch(() => undefined);
      if (body !== undefined) return { record, body };
      if (index.find(bucket, key)?.file === record.file)
        throw new Error(`the file of s3://${bucket}/${key} is missing`);
    }
  }

  async function remove(bucket: string, key: string): Promise<void> {
    const removed = index.remove(bucket, key);
    if (removed === undefined) return;
    await index.settled();
    await discard(fileOf(bucket, removed));
  }

  /** One page of the keys with a prefix. The token holds the last key of the page before. */
  function list({ Bucket, Prefix, MaxKeys, ContinuationToken }: z.output<typeof listing>): AwsOutput {
    const after = Buffer.from(ContinuationToken, 'base64url');
    const records = index
      .list(Bucket, Prefix)
      .filter(({ key }) => Buffer.compare(Buffer.from(key), after) > 0);
    const page = records.slice(0, MaxKeys);
    const last = page.at(-1);
    const truncated = last !== undefined && page.length < records.length;
    return {
      Name: Bucket,
      Prefix,
      MaxKeys,
      IsTruncated: truncated,
      Contents: page.map((record): ListedObject => ({
        Key: record.key,
        Size: record.size,
        ETag: record.etag,
        LastModified: new Date(record.writtenAtMs),
      })),
      ...(truncated && { NextContinuationToken: Buffer.from(last.key).toString('base64url') }),
    };
  }

  return {
    service: serviceOf({
      PutObject: (call) => put(parseInput(putObject, call)),
      GetObject: async (call) => {
        const { Bucket, Key } = parseInput(location, call);
        const found = await load(Bucket, Key);
        if (found === undefined) throw noSuchKey();
        return { ...describe(found.record), Body: found.body };
      },
      HeadObject: (call) => {
        const { Bucket, Key } = parseInput(location, call);
        const record = index.find(Bucket, Key);
        if (record === undefined) throw noSuchKey();
        return describe(record);
      },
      DeleteObject: async (call) => {
        const { Bucket, Key } = parseInput(location, call);
        await remove(Bucket, Key);
        return {};
      },
      ListObjectsV2: (call) => list(parseInput(listing, call)),
    }),
    read: async (bucket, key) => {
      const { record, body } = (await load(bucket, key)) ?? {};
      return record && body && { ...record, body, lastModified: new Date(record.writtenAtMs) };
    },
    expire: async (bucket, prefix, olderThanDays) => {
      const before = now() - olderThanDays * dayMillis;
      const due = index.list(bucket, prefix).filter((record) => record.writtenAtMs < before);
      for (const { key } of due) await remove(bucket, key);
      return due.length;
    },
    holdFiles: () => {
      const list: string[] = [];
      held.add(list);
      return async () => {
        held.delete(list);
        for (const file of list) await discard(file);
      };
    },
    close: index.close,
  };
}

/** An object that was written, or the key of an object that was deleted. */
type Entry =
  | { readonly bucket: string; readonly put: ObjectRecord }
  | { readonly bucket: string; readonly removed: string };

interface ObjectIndex {
  readonly find: (bucket: string, key: string) => ObjectRecord | undefined;
  /** Lists in the order of S3, by the bytes of the key. */
  readonly list: (bucket: string, prefix: string) => readonly ObjectRecord[];
  readonly put: (bucket: string, record: ObjectRecord) => void;
  readonly remove: (bucket: string, key: string) => ObjectRecord | undefined;
  readonly settled: () => Promise<void>;
  readonly close: () => void;
}

/** The files of the objects in the text of an index, relative to its folder. */
export function objectFilesIn(index: string, folder = 'objects'): string[] {
  const files = new Map<string, string>();
  for (const entry of entriesOf<Entry>('the index', index))
    if ('put' in entry) files.set(`${entry.bucket}/${entry.put.key}`, `${entry.bucket}/${entry.put.file}`);
    else files.delete(`${entry.bucket}/${entry.removed}`);
  return [...files.values()].map((name) => `${folder}/${name}`);
}

/** The objects of all buckets, in memory and in a journal. A change is in the journal before its method returns. */
function openIndex(file: string, onWriteFailed: OnWriteFailed | undefined): ObjectIndex {
  const buckets = new Map<string, Map<string, ObjectRecord>>();
  const apply = (entry: Entry): void => {
    const objects = buckets.get(entry.bucket) ?? new Map<string, ObjectRecord>();
    buckets.set(entry.bucket, objects);
    if ('put' in entry) objects.set(entry.put.key, entry.put);
    else objects.delete(entry.removed);
  };
  const replay = (entries: readonly Entry[]): Entry[] => {
    entries.forEach(apply);
    return [...buckets].flatMap(([bucket, objects]) => [...objects.values()].map((put) => ({ bucket, put })));
  };
  const { journal } = openJournal<Entry>(file, replay, onWriteFailed);
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
    put: (bucket, record) => keep({ bucket, put: record }),
    remove: (bucket, key) => {
      const removed = find(bucket, key);
      if (removed !== undefined) keep({ bucket, removed: key });
      return removed;
    },
    settled: journal.settled,
    close: journal.close,
  };
}

/** The folder of a bucket is missing only at its first object. A full disk leaves no part of a file. */
async function write(file: string, data: Uint8Array): Promise<void> {
  try {
    await writeFile(file, data, { flush: true });
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) {
      makeFolder(path.dirname(file));
      return write(file, data);
    }
    await rm(file, { force: true });
    if (!isOfDisk(error)) throw error;
    throw new AwsError('ServiceUnavailable', 'The disk takes no more writes.', { status: 503 });
  }
}

function describe(record: ObjectRecord): AwsOutput {
  return {
    ContentType: record.contentType,
    ContentLength: record.size,
    ETag: record.etag,
    ChecksumCRC32: record.crc32,
    Metadata: record.metadata,
    CacheControl: record.cacheControl,
    Expires: record.expires,
    ContentDisposition: record.contentDisposition,
    LastModified: new Date(record.writtenAtMs),
  };
}

function noSuchKey(): AwsError {
  return new AwsError('NoSuchKey', 'The specified key does not exist.', { status: 404 });
}
