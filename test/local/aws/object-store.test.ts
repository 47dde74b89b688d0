import { appendFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { expect, onTestFinished, test } from 'vitest';
import { createAuthorizer } from '../../../local/aws/iam.ts';
import { createObjectStore } from '../../../local/aws/object-store.ts';
import { startMillis, startEndpoint } from './endpoint-fixture.ts';
import type { Fixture } from './endpoint-fixture.ts';

const Bucket = 'images';
const dayMillis = 86_400_000;
const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, n) => (n * 31) % 256));

async function startStore(): Promise<Fixture & { s3: S3Client }> {
  const fixture = await startEndpoint();
  return { ...fixture, s3: new S3Client(fixture.as('operator')) };
}

test('An object comes back byte for byte, with its type, cache rules and metadata', async () => {
  const { s3 } = await startStore();
  const Key = 'results/0198/a b+c%&é.png';
  const put = await s3.send(
    new PutObjectCommand({
      Bucket,
      Key,
      Body: bytes,
      ContentType: 'image/png',
      CacheControl: 'public, max-age=31536000, immutable',
      Metadata: { creation: '0198' },
    }),
  );
  const got = await s3.send(new GetObjectCommand({ Bucket, Key }));
  expect(Buffer.from((await got.Body?.transformToByteArray()) ?? [])).toEqual(bytes);
  expect(got).toMatchObject({
    ContentType: 'image/png',
    CacheControl: 'public, max-age=31536000, immutable',
    Metadata: { creation: '0198' },
    ContentLength: 70_000,
    ETag: put.ETag,
    LastModified: new Date(startMillis),
  });
  expect(await s3.send(new HeadObjectCommand({ Bucket, Key }))).toMatchObject({
    ContentType: 'image/png',
    ContentLength: 70_000,
  });
});

test('A stream is stored without its chunk framing', async () => {
  const { s3, objectStore } = await startStore();
  const Body = Readable.from([bytes.subarray(0, 40_000), bytes.subarray(40_000)]);
  await s3.send(
    new PutObjectCommand({
      Bucket,
      Key: 'stream',
      Body,
      ContentLength: bytes.length,
      ContentType: 'image/png',
    }),
  );
  const stored = await objectStore.read(Bucket, 'stream');
  expect(stored?.body).toEqual(bytes);
  expect(stored?.contentType).toBe('image/png');
});

test('An empty object exists', async () => {
  const { s3, objectStore } = await startStore();
  await s3.send(new PutObjectCommand({ Bucket, Key: 'empty', Body: new Uint8Array(0) }));
  expect((await objectStore.read(Bucket, 'empty'))?.body).toHaveLength(0);
});

test('Bytes that do not match their checksum are refused and not stored', async () => {
  const { s3, objectStore } = await startStore();
  await expect(
    s3.send(new PutObjectCommand({ Bucket, Key: 'x', Body: bytes, ChecksumCRC32: 'AAAAAA==' })),
  ).rejects.toMatchObject({ name: 'BadDigest' });
  expect(await objectStore.read(Bucket, 'x')).toBeUndefined();
});

test('With If-None-Match: * one of many concurrent writers succeeds, and its bytes stay', async () => {
  const { s3, objectStore } = await startStore();
  const writers = await Promise.allSettled(
    Array.from({ length: 20 }, (_, n) =>
      s3.send(new PutObjectCommand({ Bucket, Key: 'once', Body: `writer ${n}`, IfNoneMatch: '*' })),
    ),
  );
  const winner = writers.findIndex((writer) => writer.status === 'fulfilled');
  const refusals = writers.filter((writer) => writer.status === 'rejected');
  expect(refusals.map((refusal): unknown => refusal.reason)).toEqual(
    Array.from({ length: 19 }, (): unknown => expect.objectContaining({ name: 'PreconditionFailed' })),
  );
  expect((await objectStore.read(Bucket, 'once'))?.body.toString()).toBe(`writer ${winner}`);
});

test('A replaced object leaves no file of the old bytes behind', async () => {
  const { s3, objectStore, folder } = await startStore();
  await s3.send(new PutObjectCommand({ Bucket, Key: 'a.txt', Body: 'old' }));
  await s3.send(new PutObjectCommand({ Bucket, Key: 'a.txt', Body: 'new', ContentType: 'text/plain' }));
  expect(await objectStore.read(Bucket, 'a.txt')).toMatchObject({
    body: Buffer.from('new'),
    contentType: 'text/plain',
  });
  expect(await readdir(path.join(folder, 'objects', Bucket))).toEqual([expect.stringMatching(/a\.txt$/)]);
});

test('After a crash in the middle of a write every written object is there, and the other one is not', async () => {
  const { s3, folder } = await startStore();
  await s3.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'whole' }));
  await s3.send(new PutObjectCommand({ Bucket, Key: 'gone', Body: 'deleted' }));
  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'gone' }));
  await writeFile(path.join(folder, 'objects', Bucket, 'cafe-b'), 'bytes without an entry');
  await appendFile(path.join(folder, 'objects.jsonl'), '{"bucket":"images","put":{"key":"b"');
  const reopened = createObjectStore(path.join(folder, 'objects'), { now: Date.now });
  onTestFinished(reopened.close);
  const texts = await Promise.all(
    ['a', 'b', 'gone'].map(async (key) => (await reopened.read(Bucket, key))?.body.toString()),
  );
  expect(texts).toEqual(['whole', undefined, undefined]);
});

test('A missing key is NoSuchKey for GET and NotFound for HEAD, and its deletion succeeds', async () => {
  const { s3 } = await startStore();
  await expect(s3.send(new GetObjectCommand({ Bucket, Key: 'none' }))).rejects.toMatchObject({
    name: 'NoSuchKey',
  });
  await expect(s3.send(new HeadObjectCommand({ Bucket, Key: 'none' }))).rejects.toMatchObject({
    name: 'NotFound',
  });
  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'none' }));
});

test('A caller that may not list the bucket gets AccessDenied for a missing key', async () => {
  const authorize = createAuthorizer(
    new Map([
      ['Reader', [{ Effect: 'Allow', Action: 's3:GetObject', Resource: `arn:aws:s3:::${Bucket}/*` }]],
    ]),
  );
  const fixture = await startEndpoint({ authorize });
  const s3 = new S3Client(fixture.as('Reader'));
  await expect(s3.send(new GetObjectCommand({ Bucket, Key: 'none' }))).rejects.toMatchObject({
    name: 'AccessDenied',
  });
});

test('No key leads out of the folder', async () => {
  const { s3, folder, objectStore } = await startStore();
  const keys = ['../../out', '..', '.', '~x', '/etc/passwd', 'a/../../b', `long/${'x'.repeat(900)}`];
  for (const Key of keys) await s3.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
  const listed = await s3.send(new ListObjectsV2Command({ Bucket }));
  expect(listed.Contents?.map((object) => object.Key)).toEqual([...keys].sort());
  for (const Key of keys)
    expect(await (await s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString()).toBe(Key);
  expect((await readdir(folder)).sort()).toEqual(['objects', 'objects.jsonl']);
  expect(await readdir(path.join(folder, 'objects'))).toEqual([Bucket]);
  const upwards = {
    service: 's3',
    operation: 'PutObject',
    caller: 'operator',
    input: { Bucket: '..', Key: 'x', Body: bytes },
  } as const;
  await expect(objectStore.service(upwards)).rejects.toMatchObject({ code: 'ValidationException' });
});

test('A listing returns the keys with a prefix in byte order, page by page', async () => {
  const { s3 } = await startStore();
  for (const Key of ['b/2', 'a/<&>', 'a/Z', 'a/a'])
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
  const first = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'a/', MaxKeys: 2 }));
  expect(first.Contents?.map(({ Key, Size }) => [Key, Size])).toEqual([
    ['a/<&>', 5],
    ['a/Z', 3],
  ]);
  expect(first.IsTruncated).toBe(true);
  const second = await s3.send(
    new ListObjectsV2Command({ Bucket, Prefix: 'a/', ContinuationToken: first.NextContinuationToken }),
  );
  expect(second.Contents?.map(({ Key }) => Key)).toEqual(['a/a']);
  expect(second.IsTruncated).toBe(false);
  expect((await s3.send(new ListObjectsV2Command({ Bucket: 'no-such-bucket' }))).Contents).toBeUndefined();
});

test('Expiry deletes only objects with its prefix that are old enough', async () => {
  const { s3, objectStore, clock } = await startStore();
  await s3.send(new PutObjectCommand({ Bucket, Key: 'sources/old', Body: '1' }));
  await s3.send(new PutObjectCommand({ Bucket, Key: 'results/old', Body: '1' }));
  clock.nowMillis += dayMillis;
  await s3.send(new PutObjectCommand({ Bucket, Key: 'sources/new', Body: '1' }));
  expect(await objectStore.expire(Bucket, 'sources/', 1)).toBe(0);
  clock.nowMillis += 1;
  expect(await objectStore.expire(Bucket, 'sources/', 1)).toBe(1);
  expect((await s3.send(new ListObjectsV2Command({ Bucket }))).Contents?.map((object) => object.Key)).toEqual(
    ['results/old', 'sources/new'],
  );
});

test('An unsigned request is refused with XML', async () => {
  const { s3, url } = await startStore();
  await s3.send(new PutObjectCommand({ Bucket, Key: 'private', Body: 'x' }));
  const answer = await fetch(`${url}/${Bucket}/private`);
  expect(answer.status).toBe(403);
  expect(await answer.text()).toContain('<Code>AccessDenied</Code>');
});

test('A request with an unsupported option is refused with NotImplemented', async () => {
  const { s3 } = await startStore();
  await expect(s3.send(new ListObjectsV2Command({ Bucket, Delimiter: '/' }))).rejects.toMatchObject({
    name: 'NotImplemented',
  });
});
