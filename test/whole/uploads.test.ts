/**
 * Uploads: the client announces an image, puts its bytes straight into the bucket, and names it in
 * image_urls. The tests are in one file, because they share one service, and the last test removes all bytes.
 */
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { getItem } from '../../service/aws/dynamodb/send.ts';
import { keys } from '../../service/aws/dynamodb/table.ts';
import type { CreationRecord } from '../../service/creations/creation.ts';
import { type Answer, type Client, sharedTestService } from '../fixtures/service.ts';
import { costOf, idOf, textLike } from '../fixtures/values.ts';
import { everyAnswer } from './every-answer.ts';
import { answering, jpeg, png, startImageOrigin, webp } from './image-origin.ts';
import { fieldsOf, refusalOf, withinOneMinute } from './refusal.ts';

const [service, origin] = await Promise.all([sharedTestService(), startImageOrigin()]);
const client = await service.client({ postRate: '10000', maxConcurrent: '100' });
afterAll(async () => {
  await origin.close();
  await service.end();
});

const announced = z.strictObject({
  id: z.string(),
  image_url: z.string(),
  upload_url: z.string(),
  upload_headers: z.record(z.string(), z.string()),
  expires_at: z.string(),
});
type Announced = z.infer<typeof announced>;

function announce(body: object, { key } = client): Promise<Answer> {
  return service.send('/uploads', { key, body });
}

async function announceFile(file: Uint8Array, type = 'image/png', by = client): Promise<Announced> {
  const answer = await announce({ content_type: type, bytes: file.length }, by);
  expect(answer.status, answer.text).toBe(201);
  return announced.parse(answer.body);
}

async function put(
  { upload_url, upload_headers }: Announced,
  file: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string }> {
  const sent = { ...upload_headers, 'content-length': String(file.length), ...headers };
  const response = await fetch(upload_url, { method: 'PUT', body: Buffer.from(file), headers: sent });
  return { status: response.status, text: await response.text() };
}

/** An upload with its bytes. */
async function filled(file: Uint8Array, by = client): Promise<string> {
  const upload = await announceFile(file, 'image/png', by);
  expect((await put(upload, file)).status).toBe(200);
  return upload.image_url;
}

function submit(urls: readonly string[], by = client, headers: Record<string, string> = {}): Promise<Answer> {
  const body = { model: 'sandbox-pro', prompt: 'make it dusk', image_urls: urls };
  return service.send('/images/generate', { key: by.key, body, headers });
}

/** The record of the creation once it has ended. */
async function ended(answer: Answer): Promise<CreationRecord> {
  return (await service.ended(idOf(answer))) as CreationRecord;
}

const notUsable = (index: number): object => [400, [`image_urls[${index}]: upload_not_usable`]];
const refusedFields = (answer: Answer): unknown => [answer.status, fieldsOf(answer)];

describe('POST /uploads', () => {
  it('The answer has exactly these fields, and its address takes the announced bytes', async () => {
    const before = service.machine.clock.now();
    const answer = await announce({ content_type: 'image/webp', bytes: 30 });
    expect(answer.status).toBe(201);
    const upload = announced.parse(answer.body);
    expect(upload).toEqual({
      id: textLike(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/),
      image_url: `upload:${upload.id}`,
      upload_url: textLike(/\/uploads\/[\w-]{32}\.webp\?.*X-Amz-Expires=900&.*X-Amz-Signature=[0-9a-f]{64}$/),
      upload_headers: { 'content-type': 'image/webp', 'content-length': '30' },
      expires_at: textLike(/^2\d{3}-.*Z$/),
    });
    const lasts = Date.parse(upload.expires_at) - before;
    expect(lasts).toBeGreaterThanOrEqual(86_400_000);
    expect(lasts).toBeLessThan(86_400_000 + 60_000);
    expect((await put(upload, webp(640, 480))).status).toBe(200);
  });

  it.each<[string, object, string[]]>([
    ['another type', { content_type: 'image/gif', bytes: 5 }, ['content_type: invalid_value']],
    ['no bytes', { content_type: 'image/png', bytes: 0 }, ['bytes: too_small']],
    ['more than 10 MB', { content_type: 'image/png', bytes: 10_000_001 }, ['bytes: too_big']],
    ['half a byte', { content_type: 'image/png', bytes: 0.5 }, ['bytes: invalid_type']],
    ['a text as length', { content_type: 'image/png', bytes: '5' }, ['bytes: invalid_type']],
    ['an unknown field', { content_type: 'image/png', bytes: 5, name: 'a.png' }, ['name: unknown_field']],
    ['nothing at all', {}, ['content_type: required', 'bytes: required']],
  ])('A body with %s is refused with its field', async (_what, body, fields) => {
    expect(refusedFields(await announce(body))).toEqual([400, fields]);
  });

  it('Exactly 10 MB are taken', async () => {
    expect((await announce({ content_type: 'image/png', bytes: 10_000_000 })).status).toBe(201);
  });

  it('An upload is not charged', async () => {
    const by = await service.client();
    await filled(png(640, 480), by);
    expect((await service.account(by.account.id)).availableMicros).toBe(25_000_000);
  });

  it('The rate of POSTs counts uploads, and a request that the rate refuses leaves nothing', async () => {
    withinOneMinute(service);
    const slow = await service.client({ postRate: '1' });
    const asked = { content_type: 'image/png', bytes: 5 };
    const answers = await Promise.all(Array.from({ length: 10 }, () => announce(asked, slow)));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(9);
    for (const answer of refused)
      expect(refusalOf(answer)).toMatchObject({
        code: 'ERR_RATE_LIMIT',
        details: { reason: 'account_rate' },
      });
    const item = await getItem(service.operator.table, keys.unusedUploads(slow.account.id));
    expect(item?.['unused']).toEqual(new Set([expect.any(String)]));
  });
});

describe('the signed address', () => {
  const file = png(640, 480, 500);

  it.each<[string, Uint8Array, Record<string, string>]>([
    ['one byte more', png(640, 480, 501), {}],
    ['one byte less', png(640, 480, 499), {}],
    ['another type', file, { 'content-type': 'image/jpeg' }],
    ['a page in the place of an image', file, { 'content-type': 'text/html' }],
  ])('The address refuses %s, and nothing is stored', async (_what, sent, headers) => {
    const upload = await announceFile(file);
    const answer = await put(upload, sent, headers);
    expect(answer).toMatchObject({ status: 403, text: textLike(/<Code>SignatureDoesNotMatch</) });
    expect(refusedFields(await submit([upload.image_url]))).toEqual(notUsable(0));
  });

  it('The address of one upload does not take bytes for another one, and no other method', async () => {
    const [one, other] = [await announceFile(file), await announceFile(file)];
    const keyOf = ({ upload_url }: Announced): string => new URL(upload_url).pathname;
    const swapped = { ...one, upload_url: one.upload_url.replace(keyOf(one), keyOf(other)) };
    expect((await put(swapped, file)).status).toBe(403);
    for (const method of ['GET', 'DELETE', 'HEAD']) {
      expect((await fetch(one.upload_url, { method, headers: one.upload_headers })).status, method).toBe(403);
    }
  });

  it('The address takes no bytes after 15 minutes, and a second time within them', async () => {
    const upload = await announceFile(file);
    expect((await put(upload, file)).status).toBe(200);
    service.jump(14 * 60);
    expect((await put(upload, file)).status).toBe(200);
    service.jump(61);
    expect(await put(upload, file)).toMatchObject({ status: 403, text: textLike(/Request has expired/) });
  });

  it('A page of any origin may put an upload from a browser, and do nothing else', async () => {
    const upload = await announceFile(file);
    const preflight = async (method: string, headers: string): Promise<Response> =>
      fetch(upload.upload_url, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://app.example.com',
          'access-control-request-method': method,
          'access-control-request-headers': headers,
        },
      });
    const allowed = await preflight('PUT', 'content-type');
    expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(allowed.headers.get('access-control-allow-headers')).toBe('content-type');
    expect((await preflight('GET', '')).status).toBe(403);
    expect((await preflight('PUT', 'content-type, authorization')).status).toBe(403);
  });

  it('The bytes of an upload are never served under an address of ours', async () => {
    const upload = await announceFile(file);
    await put(upload, file);
    const key = new URL(upload.upload_url).pathname.replace(/^\/[^/]+\//, '');
    const base = new URL(service.machine.apiUrl).origin;
    expect(key).toMatch(/^uploads\//);
    for (const path of [key, `results/../${key}`, key.replace('uploads', 'results')])
      expect((await fetch(`${base}/_results/${path}`)).status, path).toBe(403);
  });
});

describe('an upload in image_urls', () => {
  it('The bytes are copied like a fetched image, and may be used by several creations', async () => {
    const upload = await filled(jpeg(321, 123));
    const [one, two] = [await submit([upload]), await submit([upload])];
    expect([one.status, two.status, costOf(one)]).toEqual([202, 202, 0.07]);
    const records = await Promise.all([one, two].map(ended));
    for (const record of records)
      expect(record).toMatchObject({
        status: 'completed',
        sources: [
          { width: 321, height: 123, contentType: 'image/jpeg', key: textLike(/^sources\/[\w-]{32}\.jpg$/) },
        ],
      });
    expect(new Set(records.map(({ sources }) => sources[0]?.key)).size).toBe(2);
  });

  it('Addresses and uploads may be mixed, and keep the order of the request', async () => {
    const address = origin.at('/200.png', answering(200, png(200, 100)));
    const urls = [await filled(png(100, 100)), address, await filled(png(300, 100))];
    const record = await ended(await submit([...urls, urls[0] ?? '']));
    expect(record.sources.map(({ width }) => width)).toEqual([100, 200, 300, 100]);
  });

  it.each<[string, Uint8Array, string]>([
    ['a text', Buffer.from('<!doctype html><title>no image</title>'), 'unsupported_type'],
    ['a side of 63 pixels', png(63, 640), 'invalid_size'],
    ['more than 25 megapixels', png(5001, 5000), 'too_many_pixels'],
  ])('An upload of %s is refused by its bytes', async (_what, file, code) => {
    const urls = [await filled(png(640, 480)), await filled(file)];
    expect(refusedFields(await submit(urls))).toEqual([400, [`image_urls[1]: ${code}`]]);
  });

  it('An upload of another account, an unknown one and one that was never filled are answered alike', async () => {
    const other = await service.client();
    const foreign = await filled(png(640, 480), other);
    const empty = (await announceFile(png(640, 480))).image_url;
    const answers = [];
    for (const url of [
      foreign,
      empty,
      'upload:019aa5a0-1000-7000-8000-00000000000b',
      'upload:',
      'upload:../results/a',
      foreign.toUpperCase().replace('UPLOAD', 'upload'),
    ])
      answers.push(await submit([url]));
    for (const answer of answers) expect(refusedFields(answer)).toEqual(notUsable(0));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await submit([foreign], other)).status).toBe(202);
  });

  it('The first item that cannot be used is named by its index', async () => {
    const good = await filled(png(640, 480));
    const unknown = 'upload:019aa5a0-1000-7000-8000-00000000000b';
    expect(refusedFields(await submit([good, unknown, unknown]))).toEqual(notUsable(1));
  });

  it('A quote takes an upload that is not filled yet, and refuses one of another account', async () => {
    const upload = (await announceFile(png(640, 480))).image_url;
    const quote = (by: Client): Promise<Answer> =>
      service.send('/images/quote', {
        key: by.key,
        body: { model: 'sandbox-pro', prompt: 'a lake', image_urls: [upload] },
      });
    expect(await quote(client)).toMatchObject({ status: 200, body: { cost: 0.07, input_images: 1 } });
    expect(refusedFields(await quote(await service.client()))).toEqual(notUsable(0));
  });

  it('An Idempotency-Key replays by the text of the item', async () => {
    const upload = await filled(png(640, 480));
    const headers = { 'idempotency-key': 'with-upload' };
    const first = await submit([upload], client, headers);
    const again = await submit([upload], client, headers);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
    expect(idOf(again)).toBe(idOf(first));
    const other = await submit([await filled(png(640, 480))], client, headers);
    expect(refusalOf(other).details).toMatchObject({ reason: 'idempotency_key_mismatch' });
  });

  it('No answer and no log line has the key of an upload or a signed address', async () => {
    const upload = await announceFile(png(640, 480));
    await put(upload, png(640, 480));
    const record = await ended(await submit([upload.image_url]));
    const shown = await service.send(`/creations/${record.id}`, { key: client.key });
    expect(shown.text).not.toMatch(/uploads\/|upload:|sources\//);
    expect(service.log.join('\n')).not.toMatch(/uploads\/|X-Amz-/);
  });
});

describe('the quota of unused uploads', () => {
  const asked = { content_type: 'image/png', bytes: png(640, 480).length };
  const overQuota = (limit: number): object => ({
    status: 429,
    code: 'ERR_QUOTA_EXCEEDED',
    details: { scope: 'account', reason: 'unused_uploads', limit, current: limit },
  });

  it('Of forty requests at once exactly twenty are accepted', async () => {
    const client = await service.client({ maxUnusedUploads: '20' });
    const answers = await Promise.all(Array.from({ length: 40 }, () => announce(asked, client)));
    const accepted = answers.filter(({ status }) => status === 201);
    expect(accepted).toHaveLength(20);
    expect(new Set(accepted.map(({ body }) => announced.parse(body).id)).size).toBe(20);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(refusalOf(answer)).toEqual(overQuota(20));
      expect(answer.headers.get('retry-after')).toBe('60');
    }
  });

  it('A creation that is accepted frees the slot of its upload, and a refused creation does not', async () => {
    const narrow = await service.client({ maxUnusedUploads: '2' });
    const [used] = [await filled(png(640, 480), narrow), await filled(png(63, 63), narrow)];
    expect(refusalOf(await announce(asked, narrow))).toEqual(overQuota(2));
    const poor = { model: 'no-such-model', prompt: 'a lake', image_urls: [used] };
    await service.send('/images/generate', { key: narrow.key, body: poor });
    expect((await announce(asked, narrow)).status).toBe(429);
    // Only the first one is used, however often.
    expect((await submit([used, used], narrow)).status).toBe(202);
    expect((await submit([used], narrow)).status).toBe(202);
    expect((await announce(asked, narrow)).status).toBe(201);
    expect(refusalOf(await announce(asked, narrow))).toEqual(overQuota(2));
  });

  it('A limit of 0 refuses every upload', async () => {
    const none = await service.client({ maxUnusedUploads: '0' });
    expect(refusalOf(await announce(asked, none))).toMatchObject(overQuota(0));
  });

  // These tests are the last ones, because the jumps of the clock remove the bytes of all uploads.
  it('An upload can be used until 24 hours are over; then it is refused, and its slot is free', async () => {
    const narrow = await service.client({ maxUnusedUploads: '2', postRate: '1000' });
    const upload = await filled(png(640, 480), narrow);
    await announce(asked, narrow);
    service.jump(86_400 - 120);
    expect((await announce(asked, narrow)).status).toBe(429);
    expect((await submit([upload], narrow)).status).toBe(202);
    expect((await announce(asked, narrow)).status).toBe(201);
    service.jump(240);
    expect(refusedFields(await submit([upload], narrow))).toEqual(notUsable(0));
    expect((await announce(asked, narrow)).status).toBe(201);
    expect(refusalOf(await announce(asked, narrow))).toEqual(overQuota(2));
  });

  it('The bytes are gone within 48 hours', async () => {
    await filled(png(640, 480), await service.client());
    const bucket = service.machine.template.distributions[0]?.bucket ?? '';
    const s3 = new S3Client({
      endpoint: service.machine.awsUrl,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: { accessKeyId: 'operator', secretAccessKey: 'local' },
    });
    const left = async (): Promise<number> =>
      (await s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: 'uploads/' }))).KeyCount ?? 0;
    expect(await left()).toBeGreaterThan(0);
    service.jump(48 * 3600);
    await service.machine.advance(60);
    expect(await left()).toBe(0);
  });
});

everyAnswer(() => service);
