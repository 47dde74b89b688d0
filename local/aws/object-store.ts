import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { hasErrorCode, isOfDisk, type OnWriteFailed } from '../disk-errors.ts';
import { type AwsCall, type AwsOutput, type AwsService, parseInput, unknownOperation } from './aws-call.ts';
import { AwsError } from './aws-error.ts';
import { listObjects, type ObjectIndex, type ObjectRecord, openObjectIndex } from './object-index.ts';
import { crc32Base64 } from './s3-protocol.ts';

/**
 * Writes a file. Makes its folder when the folder is missing, which is only so at the first file. Leaves no part of
 * a file on a full disk.
 */
async function writeInFolder(folder: string, name: string, data: Uint8Array): Promise<void> {
  const file = path.join(folder, name);
  try {
    await writeFile(file, data);
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) {
      await rm(file, { force: true });
      throw error;
    }
    await mkdir(folder, { recursive: true });
    await writeFile(file, data);
  }
}

/** An object as the stand-in of CloudFront serves it. */
export interface StoredObject {
  readonly body: Buffer;
  readonly contentType: string;
  readonly cacheControl: string | undefined;
  readonly expires: string | undefined;
  readonly etag: string;
  readonly lastModified: Date;
}

/** The stand-in of S3: whole objects in a folder, listings by prefix, and expiry. */
export interface ObjectStore {
  /** PutObject, GetObject, HeadObject, DeleteObject, ListObjectsV2. */
  readonly service: AwsService;
  readonly read: (bucket: string, key: string) => Promise<StoredObject | undefined>;
  /**
   * Deletes the objects that were last written more than that many days ago, as a lifecycle rule does.
   * Resolves with the number of deleted objects.
   */
  readonly expire: (bucket: string, prefix: string, olderThanDays: number) => Promise<number>;
  /** Frees the folder. */
  readonly close: () => void;
}

const dayMillis = 86_400_000;
const defaultContentType = 'application/octet-stream';

const location = z.object({
  Bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/),
  Key: z.string().min(1).max(1024),
});
const putObject = location.extend({
  Body: z.instanceof(Uint8Array),
  ContentType: z.string().optional(),
  CacheControl: z.string().optional(),
  Expires: z.string().optional(),
  ContentDisposition: z.string().optional(),
  Metadata: z.record(z.string(), z.string()).default({}),
  IfNoneMatch: z.literal('*').optional(),
});

/**
 * Keeps each object's bytes in a file of its own under `folder/<bucket>/`. The file's name ends like the key,
 * so that an image opens as an image. The facts about the objects are in an index, see object-index.ts. An object exists as soon
 * as the index has its entry. `now` is the time in epoch milliseconds.
 */
export function createObjectStore(
  folder: string,
  { now, onWriteFailed }: { readonly now: () => number; readonly onWriteFailed?: OnWriteFailed },
): ObjectStore {
  const index = openObjectIndex(folder, onWriteFailed);
  const operations = createOperations(folder, index, now);
  return {
    service: async (call) => {
      const operation = operations[call.operation];
      if (operation === undefined) throw unknownOperation(call);
      return operation(call);
    },
    read: async (bucket, key) => {
      const found = await load(folder, index, { Bucket: bucket, Key: key });
      if (found === undefined) return undefined;
      const { body, record } = found;
      return {
        body,
        contentType: record.contentType,
        cacheControl: record.cacheControl,
        expires: record.expires,
        etag: record.etag,
        lastModified: new Date(record.writtenAtMs),
      };
    },
    expire: async (bucket, prefix, olderThanDays) => {
      const before = now() - olderThanDays * dayMillis;
      const due = index.list(bucket, prefix).filter((record) => record.writtenAtMs < before);
      for (const { key } of due) await remove(folder, index, bucket, key);
      return due.length;
    },
    close: index.close,
  };
}

function createOperations(
  folder: string,
  index: ObjectIndex,
  now: () => number,
): Readonly<Record<string, (call: AwsCall) => Promise<AwsOutput>>> {
  return {
    PutObject: (call) => put(folder, index, now(), parseInput(putObject, call)),
    GetObject: async (call) => {
      const found = await load(folder, index, parseInput(location, call));
      if (found === undefined) throw noSuchKey();
      return { ...describe(found.record), Body: found.body };
    },
    HeadObject: (call) => {
      const { Bucket, Key } = parseInput(location, call);
      const record = index.find(Bucket, Key);
      if (record === undefined) throw noSuchKey();
      return Promise.resolve(describe(record));
    },
    DeleteObject: async (call) => {
      const { Bucket, Key } = parseInput(location, call);
      await remove(folder, index, Bucket, Key);
      return {};
    },
    ListObjectsV2: (call) => Promise.resolve(listObjects(index, call)),
  };
}

async function put(
  folder: string,
  index: ObjectIndex,
  nowMillis: number,
  input: z.output<typeof putObject>,
): Promise<AwsOutput> {
  const { Bucket, Key, Body } = input;
  const file = `${randomBytes(6).toString('hex')}-${path.posix
    .basename(Key)
    .replace(/[^\w.-]/g, '_')
    .slice(-80)}`;
  // No index entry names this file yet. After a crash before the entry is written, the object is as it was.
  try {
    await writeInFolder(path.join(folder, Bucket), file, Body);
  } catch (error) {
    if (!isOfDisk(error)) throw error;
    throw new AwsError('ServiceUnavailable', 'The disk takes no more writes.', { status: 503 });
  }
  const record: ObjectRecord = {
    key: Key,
    file,
    size: Body.length,
    writtenAtMs: nowMillis,
    etag: `"${createHash('md5').update(Body).digest('hex')}"`,
    crc32: crc32Base64(Body),
    contentType: input.ContentType ?? defaultContentType,
    cacheControl: input.CacheControl,
    expires: input.Expires,
    contentDisposition: input.ContentDisposition,
    metadata: input.Metadata,
  };
  const onlyIfAbsent = input.IfNoneMatch === '*';
  const written = index.write(Bucket, record, { onlyIfAbsent });
  if (written.refused) {
    await rm(path.join(folder, Bucket, file), { force: true });
    throw new AwsError(
      'PreconditionFailed',
      'At least one of the pre-conditions you specified did not hold',
      { status: 412 },
    );
  }
  if (written.replaced !== undefined)
    await rm(path.join(folder, Bucket, written.replaced.file), { force: true });
  return { ETag: record.etag, ChecksumCRC32: record.crc32 };
}

async function load(
  folder: string,
  index: ObjectIndex,
  at: z.output<typeof location>,
): Promise<{ record: ObjectRecord; body: Buffer } | undefined> {
  // A PutObject may replace the object between the two reads and remove the file. The index then names the
  // new file.
  for (;;) {
    const record = index.find(at.Bucket, at.Key);
    if (record === undefined) return undefined;
    const body = await readFile(path.join(folder, at.Bucket, record.file)).catch(() => undefined);
    if (body !== undefined) return { record, body };
    if (index.find(at.Bucket, at.Key)?.file === record.file)
      throw new Error(`the file of s3://${at.Bucket}/${at.Key} is missing`);
  }
}

async function remove(folder: string, index: ObjectIndex, bucket: string, key: string): Promise<void> {
  const removed = index.remove(bucket, key);
  if (removed !== undefined) await rm(path.join(folder, bucket, removed.file), { force: true });
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
