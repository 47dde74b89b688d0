import { appendFile, readdir, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
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
import type { AwsCall } from '../../../local/aws/aws-call.ts';
import { createAuthorizer } from '../../../local/aws/iam.ts';
import { createObjectStore } from '../../../local/aws/object-store.ts';
import { createUploadTargets } from '../../../service/uploads/upload-targets.ts';
import type { Upload } from '../../../service/uploads/upload.ts';
import type { AccountId, UploadId } from '../../../service/values/ids.ts';
import { type Fixture, startEndpoint, startMillis } from './endpoint-fixture.ts';

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

const upload: Upload = {
  id: '019aa8f0-0000-7000-8000-00000000000a' as UploadId,
  accountId: 'Acc0unt001' as AccountId,
  contentType: 'image/png',
  bytes: 5,
  key: 'uploads/a.png',
  expiresAt: startMillis,
};

async function signedBy(fixture: Fixture, secretAccessKey = 'local'): Promise<string> {
  const access = {
    bucket: 'images',
    region: 'us-east-1',
    urlSuffix: 'amazonaws.com',
    endpoint: fixture.url,
    accessKeyId: 'Role',
  };
  return (await createUploadTargets({ ...access, secretAccessKey }).sign(upload, startMillis)).url;
}

type Sent = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string };

async function send(
  url: string,
  { method = 'PUT', headers = {}, body = 'bytes' }: Sent = {},
): Promise<string> {
  const sent = { 'content-type': 'image/png', ...headers };
  const response = await fetch(url, { method, headers: sent, ...(method === 'PUT' && { body }) });
  return `${response.status} ${/<Code>(\w+)</.exec(await response.text())?.[1] ?? ''}`.trim();
}

test('A presigned PUT stores the bytes, as a call of the role that signed', async () => {
  const calls: AwsCall[] = [];
  const fixture = await startEndpoint({ authorize: (call) => void calls.push(call) });
  expect(await send(await signedBy(fixture))).toBe('200');
  expect(calls).toMatchObject([{ operation: 'PutObject', caller: 'Role', input: { Key: 'uploads/a.png' } }]);
  expect((await fixture.objectStore.read('images', 'uploads/a.png'))?.body.toString()).toBe('bytes');
});

test.each<[string, Sent]>([
  ['one byte more', { body: 'bytes!' }],
  ['one byte less', { body: 'byte' }],
  ['another type', { headers: { 'content-type': 'image/jpeg' } }],
  ['a longer type', { headers: { 'content-type': 'image/png; charset=utf-8' } }],
  ['another method', { method: 'DELETE' }],
])('A request with %s does not match its signature', async (_what, sent) => {
  const fixture = await startEndpoint();
  expect(await send(await signedBy(fixture), sent)).toBe('403 SignatureDoesNotMatch');
  expect(await fixture.objectStore.read('images', 'uploads/a.png')).toBeUndefined();
});

test('A request that names no length in advance is refused', async () => {
  const fixture = await startEndpoint();
  const url = await signedBy(fixture);
  const status = await new Promise((resolve, reject) => {
    const headers = { 'content-type': 'image/png', 'transfer-encoding': 'chunked' };
    const outgoing = httpRequest(url, { method: 'PUT', headers }, (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode);
    });
    outgoing.on('error', reject);
    outgoing.end('bytes');
  });
  expect(status).toBe(403);
});

test.each<[string, (url: string) => string]>([
  ['another key', (url) => url.replace('uploads/a.png', 'uploads/b.png')],
  ['a key outside its folder', (url) => url.replace('uploads/a.png', 'results/a.png')],
  ['another bucket', (url) => url.replace('/images/', '/others/')],
  ['a longer validity', (url) => url.replace('Expires=900', 'Expires=9000')],
  ['another role', (url) => url.replace('Credential=Role', 'Credential=operator')],
  ['another signature', (url) => url.replace(/Signature=\w/, 'Signature=x')],
])('An address that was changed to %s does not match its signature', async (_what, change) => {
  const fixture = await startEndpoint();
  expect(await send(change(await signedBy(fixture)))).toBe('403 SignatureDoesNotMatch');
});

test('A signature with another secret key does not match', async () => {
  const fixture = await startEndpoint();
  expect(await send(await signedBy(fixture, 'guessed'))).toBe('403 SignatureDoesNotMatch');
});

test('A header of S3 that was not signed is refused', async () => {
  const fixture = await startEndpoint();
  const headers = { 'x-amz-acl': 'public-read' };
  expect(await send(await signedBy(fixture), { headers })).toBe('403 AccessDenied');
});

test.each<[string, (url: string) => string]>([
  ['no validity', (url) => url.replace('X-Amz-Expires=900&', '')],
  ['more than a week', (url) => url.replace('Expires=900', 'Expires=604801')],
  ['another region', (url) => url.replace('us-east-1', 'eu-west-1')],
  ['another service', (url) => url.replace('%2Fs3%2F', '%2Fsts%2F')],
  ['no date', (url) => url.replace(/X-Amz-Date=\w+/, 'X-Amz-Date=now')],
  ['another algorithm', (url) => url.replace('HMAC-SHA256', 'HMAC-SHA1')],
])('An address with %s is malformed', async (_what, change) => {
  const fixture = await startEndpoint();
  expect(await send(change(await signedBy(fixture)))).toBe('400 AuthorizationQueryParametersError');
});

test('An address is valid for its time by the clock of the stand-in, and not long before it', async () => {
  const fixture = await startEndpoint();
  const url = await signedBy(fixture);
  const at = async (seconds: number): Promise<string> => {
    fixture.clock.nowMillis = startMillis + seconds * 1000;
    return send(url);
  };
  expect([await at(-901), await at(-900), await at(900), await at(900.001)]).toEqual([
    '403 AccessDenied',
    '200',
    '200',
    '403 AccessDenied',
  ]);
});

const rule = { methods: ['PUT'], headers: ['content-type'], maxAgeSeconds: 60 };

async function preflight(
  origins: readonly string[],
  headers: Record<string, string>,
): Promise<{ status: number; headers: Headers }> {
  const corsRules = (bucket: string) => (bucket === 'images' ? [{ ...rule, origins }] : []);
  const fixture = await startEndpoint({ corsRules });
  const { status, headers: got } = await fetch(await signedBy(fixture), { method: 'OPTIONS', headers });
  return { status, headers: got };
}

const asked = {
  origin: 'https://app.example.com',
  'access-control-request-method': 'PUT',
  'access-control-request-headers': 'Content-Type',
};

test.each([
  ['every origin', ['*'], '*'],
  ['this origin', ['https://other.test', 'https://app.example.com'], 'https://app.example.com'],
  ['origins like this one', ['https://*.example.com'], 'https://app.example.com'],
])('A preflight is allowed by a rule for %s', async (_what, origins, allowed) => {
  const { status, headers } = await preflight(origins, asked);
  expect([status, headers.get('access-control-allow-origin'), headers.get('access-control-max-age')]).toEqual(
    [200, allowed, '60'],
  );
  expect(headers.get('access-control-allow-methods')).toBe('PUT');
  expect(headers.get('access-control-allow-headers')).toBe('content-type');
});

test.each<[string, readonly string[], Record<string, string>]>([
  ['of another origin', ['https://other.test'], asked],
  ['of a longer origin', ['https://app.example.co'], asked],
  ['for another method', ['*'], { ...asked, 'access-control-request-method': 'DELETE' }],
  ['for another header', ['*'], { ...asked, 'access-control-request-headers': 'authorization' }],
  ['without a rule', [], asked],
])('A preflight %s is refused', async (_what, origins, headers) => {
  const refused = await preflight(origins, headers);
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([403, null]);
});

test('A page of an allowed origin may read the answer to its PUT, also a refusal', async () => {
  const fixture = await startEndpoint({ corsRules: () => [{ ...rule, origins: ['*'] }] });
  const url = await signedBy(fixture);
  for (const body of ['bytes', 'more bytes']) {
    const headers = { 'content-type': 'image/png', origin: 'https://app.example.com' };
    const response = await fetch(url, { method: 'PUT', headers, body });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  }
});
