/**
 * Source images: they are downloaded and checked before the charge, and then copied. The tests are in one
 * file, because they share one service and one host of images, and the last test removes all copies.
 */
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, sharedTestService } from '../fixtures/service.ts';
import { costOf, idOf, textLike } from '../fixtures/values.ts';
import { everyAnswer } from './every-answer.ts';
import { answering, jpeg, png, startImageOrigin, webp } from './image-origin.ts';
import { fieldsOf, refusalOf } from './refusal.ts';

const [service, origin] = await Promise.all([sharedTestService(), startImageOrigin()]);
const client = await service.client({ postRate: '1000', maxConcurrent: '100' });
afterAll(async () => {
  await origin.close();
  await service.end();
});
beforeEach(() => origin.forget());

function submit(...urls: string[]): Promise<Answer> {
  return service.send('/images/generate', {
    key: client.key,
    body: { model: 'sandbox-pro', prompt: 'make it dusk', image_urls: urls },
  });
}

const good = (path: string): string => origin.at(path, answering(200, png(640, 480)));

/** A number that changes with each charge and each creation of the client. */
async function spent(): Promise<number> {
  const { availableMicros } = await service.account(client.account.id);
  const creations = await service.operator.creations.list(client.account.id, 100);
  return availableMicros + creations.length;
}

async function refused(...urls: string[]): Promise<Answer> {
  const before = await spent();
  const answer = await submit(...urls);
  expect(await spent(), 'nothing is charged').toBe(before);
  return answer;
}

const fetchFailed = (retryable: boolean, index = 0): object => ({
  status: 502,
  code: 'ERR_INPUT_FETCH_FAILED',
  details: { reason: 'input_fetch_failed', retryable, input_index: index },
});

describe('a source image that cannot be downloaded: 502 ERR_INPUT_FETCH_FAILED, nothing charged', () => {
  it.each([500, 502, 503, 504, 429])('A host that answers %i is retryable', async (status) => {
    expect(refusalOf(await refused(origin.at('/status', answering(status, 'no'))))).toEqual(
      fetchFailed(true),
    );
  });

  it.each([400, 401, 403, 404, 410, 451])('A host that answers %i is not retryable', async (status) => {
    expect(refusalOf(await refused(origin.at('/status', answering(status, 'no'))))).toEqual(
      fetchFailed(false),
    );
  });

  it('A name that does not resolve is retryable', async () => {
    expect(refusalOf(await refused('https://nowhere.invalid/image.png'))).toEqual(fetchFailed(true));
  });

  it('A connection that is refused is retryable', async () => {
    expect(refusalOf(await refused('http://127.0.0.1:1/image.png'))).toEqual(fetchFailed(true));
  });

  it('A connection that breaks off in the middle is retryable', async () => {
    const url = origin.at('/broken', (response) => {
      response.writeHead(200, { 'content-length': '5000' }).write(png(640, 480));
      setTimeout(() => response.destroy(), 20);
    });
    expect(refusalOf(await refused(url))).toEqual(fetchFailed(true));
  });

  it('A host without TLS at an https address is retryable', async () => {
    expect(refusalOf(await refused(good('/plain.png').replace('http:', 'https:')))).toEqual(
      fetchFailed(true),
    );
  });

  it('A server that never answers and a server that drips are each ended after 5 s and are retryable', async () => {
    const silent = origin.at('/silent', () => undefined);
    const dripping = origin.at('/drip', (response) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      const drip = setInterval(() => response.write('.'), 100);
      response.on('close', () => clearInterval(drip));
    });
    const started = performance.now();
    const answers = await Promise.all([submit(silent), submit(dripping)]);
    expect(answers.map(refusalOf)).toEqual([fetchFailed(true), fetchFailed(true)]);
    expect(performance.now() - started).toBeGreaterThan(4_900);
  });

  it.each([301, 302, 303, 307, 308])('A redirect of status %i is followed', async (status) => {
    const url = origin.at(
      `/redirect-${status}`,
      answering(status, '', { location: good('/redirected.png') }),
    );
    expect((await submit(url)).status).toBe(202);
  });

  it.each([300, 304, 305, 306])('The status %i is no redirect and is not retryable', async (status) => {
    const url = origin.at(
      `/no-redirect-${status}`,
      answering(status, '', { location: good('/redirected.png') }),
    );
    expect(refusalOf(await refused(url))).toEqual(fetchFailed(false));
  });

  it('Three redirects are followed, also relative ones, and a fourth one is not retryable', async () => {
    const last = good('/end.png');
    const chain = (length: number): string => {
      let next = last;
      for (let hop = length; hop > 0; hop -= 1)
        next = origin.at(`/hop-${length}-${hop}`, answering(302, '', { location: new URL(next).pathname }));
      return next;
    };
    expect((await submit(chain(3))).status).toBe(202);
    expect(refusalOf(await refused(chain(4)))).toEqual(fetchFailed(false));
  });

  it('The field input_index is the zero-based index of the image in image_urls', async () => {
    const answer = await refused(
      good('/0.png'),
      good('/1.png'),
      origin.at('/2.png', answering(404, '')),
      good('/3.png'),
    );
    expect(refusalOf(answer)).toEqual(fetchFailed(false, 2));
  });

  it('The answer names no address and no credential', async () => {
    const url = origin.at('/private.png?token=hunter2', answering(403, ''));
    expect((await refused(url)).text).not.toMatch(/127\.0\.0\.1|hunter2|private\.png/);
  });
});

describe('a source image that cannot be used: 400 with its field, nothing charged', () => {
  it.each<[what: string, code: string, file: Buffer, type: string]>([
    ['a GIF', 'unsupported_type', Buffer.from('GIF89a\x40\x01\x40\x01\x00\x00\x00;', 'latin1'), 'image/gif'],
    [
      'a page that says it is a PNG',
      'unsupported_type',
      Buffer.from('<!doctype html><title>Not an image</title>'),
      'image/png',
    ],
    ['an SVG', 'unsupported_type', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'],
    ['an empty file', 'unsupported_type', Buffer.alloc(0), 'image/png'],
    ['a PNG that ends in its header', 'unsupported_type', png(640, 480).subarray(0, 24), 'image/png'],
    ['a side of 63 pixels', 'invalid_size', png(63, 640), 'image/png'],
    ['a side of 8193 pixels', 'invalid_size', jpeg(8193, 64), 'image/jpeg'],
    ['more than 25 megapixels', 'too_many_pixels', png(5001, 5000), 'image/png'],
    ['a decompression bomb, by what its header claims', 'invalid_size', png(60_000, 60_000), 'image/png'],
    ['a bomb within the sides', 'too_many_pixels', webp(8192, 8192), 'image/webp'],
    ['10 MB and one byte', 'too_large', png(640, 480, 10_000_001), 'image/png'],
  ])('The service refuses %s as %s', async (_what, code, file, type) => {
    const answer = await refused(
      good('/fine.png'),
      origin.at('/bad', answering(200, file, { 'content-type': type })),
    );
    expect([answer.status, refusalOf(answer).code, ...fieldsOf(answer)]).toEqual([
      400,
      'ERR_INVALID_REQUEST',
      `image_urls[1]: ${code}`,
    ]);
  });

  it.each([
    ['an address that is not allowed', 'http://169.254.169.254/latest/meta-data/'],
    ['a private address', 'https://10.0.0.1/a.png'],
    ['a low port', 'http://93.184.215.14:22/'],
    ['a user name', 'https://user:secret@example.com/a.png'],
    ['another scheme', 'ftp://example.com/a.png'],
    ['no address', 'a.png'],
  ])('An image_url with %s is answered refused_target', async (_what, url) => {
    const answer = await refused(good('/fine.png'), url);
    expect([answer.status, ...fieldsOf(answer)]).toEqual([400, 'image_urls[1]: refused_target']);
    expect(answer.text).not.toContain('secret');
  });

  it('A redirect to an address that is not allowed is answered refused_target', async () => {
    const answer = await refused(
      origin.at('/metadata', answering(302, '', { location: 'http://169.254.169.254/' })),
    );
    expect([answer.status, ...fieldsOf(answer)]).toEqual([400, 'image_urls[0]: refused_target']);
  });
});

describe('source images that can be used', () => {
  it.each<[what: string, file: Buffer, type: string]>([
    ['a PNG', png(640, 480), 'image/png'],
    ['a JPEG', jpeg(640, 480), 'image/jpeg'],
    ['a WebP', webp(640, 480), 'image/webp'],
    ['the least sides', png(64, 64), 'image/png'],
    ['the longest side', jpeg(8192, 64), 'image/jpeg'],
    ['exactly 25 megapixels', png(5000, 5000), 'image/png'],
    ['exactly 10 MB', png(640, 480, 10_000_000), 'image/png'],
    ['a PNG that is called text', png(640, 480), 'text/plain'],
    ['a JPEG that is called PNG', jpeg(640, 480), 'image/png'],
  ])('The service accepts %s, judged by the bytes alone', async (_what, file, type) => {
    const answer = await submit(origin.at('/good', answering(200, file, { 'content-type': type })));
    expect([answer.status, costOf(answer)]).toEqual([202, 0.07]);
  });

  it('Ten source images are fetched at most four at a time and keep the order of the request', async () => {
    // Each download is held until four are open or all were asked for, and 50 ms longer, so that a fifth one
    // would show. Then the last one is answered first: the order must come from the request, not from the
    // network.
    const held: (() => void)[] = [];
    const urls = Array.from({ length: 10 }, (_, index) =>
      origin.at(`/order-${index}`, (response) => {
        held.push(() => response.writeHead(200).end(png(100 + index, 100)));
        if (held.length === 4 || origin.asked.length === 10)
          setTimeout(() => {
            for (const answer of held.splice(0).reverse()) answer();
          }, 50);
      }),
    );
    const answer = await submit(...urls);
    expect(answer.status).toBe(202);
    expect(origin.most()).toBe(4);
    expect(origin.asked).toHaveLength(10);
    const record = await service.operator.creations.read(idOf(answer));
    expect(record?.sources.map(({ width }) => width)).toEqual([
      100, 101, 102, 103, 104, 105, 106, 107, 108, 109,
    ]);
  });

  it("A source image is copied byte for byte into the service's own bucket, under a name that cannot be guessed, with its true type", async () => {
    const file = jpeg(321, 123);
    const answer = await submit(
      origin.at('/photo.png', answering(200, file, { 'content-type': 'image/png' })),
    );
    const record = await service.operator.creations.read(idOf(answer));
    const [source] = record?.sources ?? [];
    expect(source).toMatchObject({
      width: 321,
      height: 123,
      contentType: 'image/jpeg',
      bytes: file.length,
      key: textLike(/^sources\/[\w-]{32}\.jpg$/),
    });
    const object = await bucket().send(
      new GetObjectCommand({ Bucket: bucketName(), Key: source?.key ?? '' }),
    );
    expect([object.ContentType, Buffer.from((await object.Body?.transformToByteArray()) ?? [])]).toEqual([
      'image/jpeg',
      file,
    ]);
  });

  it('A source image may replace the prompt', async () => {
    const answer = await service.send('/images/generate', {
      key: client.key,
      body: { model: 'sandbox-pro', image_urls: [good('/alone.png')] },
    });
    expect(answer).toMatchObject({ status: 202, body: { prompt: null } });
  });

  it('Source images are not fetched for a request that will be refused', async () => {
    const poor = await service.client({ balance: '0.01' });
    const body = { model: 'sandbox-pro', image_urls: [good('/unseen.png')] };
    expect((await service.send('/images/generate', { key: poor.key, body })).status).toBe(402);
    expect(
      (await service.send('/images/generate', { key: client.key, body: { ...body, model: 'no-such-model' } }))
        .status,
    ).toBe(404);
    expect(
      (
        await service.send('/images/generate', {
          key: client.key,
          body: { ...body, webhook_url: 'https://10.0.0.1/' },
        })
      ).status,
    ).toBe(400);
    expect(origin.asked).toEqual([]);
  });

  // This test is the last one, because the jump of the clock removes every copy.
  it('The copies are gone within 48 hours', async () => {
    const sources = async (): Promise<number> =>
      (await bucket().send(new ListObjectsV2Command({ Bucket: bucketName(), Prefix: 'sources/' })))
        .KeyCount ?? 0;
    await Promise.all(
      (await service.operator.creations.list(client.account.id, 100)).map(({ id }) => service.ended(id)),
    );
    expect(await sources()).toBeGreaterThan(10);
    service.jump(48 * 3600);
    await service.machine.advance(60);
    expect(await sources()).toBe(0);
  });
});

function bucketName(): string {
  const [distribution] = service.machine.template.distributions;
  return distribution?.bucket ?? '';
}

function bucket(): S3Client {
  return new S3Client({
    endpoint: service.machine.awsUrl,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'operator', secretAccessKey: 'local' },
  });
}

everyAnswer(() => service);
