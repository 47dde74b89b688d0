import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type BucketServer, startBucketServer } from '../../lab/buckets/bucket-server.ts';
import type { BucketFault } from '../../lab/buckets/client-bucket.ts';
import { systemClock as clock } from '../../service/aws/clock.ts';
import { type NewObject, type StoreOutcome, storeObject } from '../../service/copies/bucket-client.ts';
import { createOutbound } from '../../service/outbound/outbound.ts';

const keys = { accessKeyId: 'AKIATEST', secretAccessKey: 'secret/of+the=client' };
const server: BucketServer = await startBucketServer({
  ...keys,
  bucket: 'our-pictures',
  region: 'eu-test-1',
  now: () => clock.now(),
});
afterAll(() => server.end());
beforeEach(() => {
  server.calm();
  server.objects.clear();
  server.requests.splice(0);
});

const place = { endpoint: server.url, bucket: 'our-pictures', prefix: 'darkroom/', region: 'eu-test-1' };
const bytes = Buffer.from('the bytes of a picture');
const object = { key: 'darkroom/one.png', contentType: 'image/png', bytes };
const services = { clock, outbound: createOutbound('loopback-too', { clock }) };

interface Change {
  readonly place?: object;
  readonly keys?: object;
  readonly object?: NewObject;
  readonly limitMillis?: number;
}

const store = ({ limitMillis = 60_000, ...change }: Change = {}): Promise<StoreOutcome> =>
  storeObject(
    {
      place: { ...place, ...change.place },
      keys: { ...keys, ...change.keys },
      millis: { put: limitMillis, other: limitMillis },
    },
    change.object ?? object,
    services,
  );
const failed = (why: string) => ({ kind: 'failed', why });
const methods = (): string[] => server.requests.map(({ method }) => method);

describe('An object of a client', () => {
  it('It is stored by one signed request, whose ETag proves its bytes', async () => {
    expect(await store()).toEqual({ kind: 'stored', url: `${server.url}/our-pictures/darkroom/one.png` });
    expect(server.objects.get(object.key)).toEqual({ bytes, contentType: 'image/png', puts: 1 });
    expect(methods()).toEqual(['PUT']);
  });

  it('Where the ETag is no checksum, the object is read back and compared', async () => {
    server.fail('other-etag');
    expect(await store()).toMatchObject({ kind: 'stored' });
    expect(methods()).toEqual(['PUT', 'GET']);
    server.fail('other-etag', 'AccessDenied');
    expect(await store()).toEqual(
      failed('the checksum cannot be compared: the bucket answered 403 AccessDenied'),
    );
  });

  it('A large object is read back in parts of 8 MB, and each part is compared', async () => {
    const large = { ...object, bytes: Buffer.alloc(20 * 1024 * 1024, 'picture') };
    server.fail('other-etag');
    expect(await store({ object: large })).toMatchObject({ kind: 'stored' });
    expect(server.requests.map(({ headers }) => headers['range'])).toEqual([
      undefined,
      'bytes=0-8388607',
      'bytes=8388608-16777215',
      'bytes=16777216-20971519',
    ]);
    server.fail('other-bytes');
    expect(await store({ object: large })).toEqual(failed('the bucket holds other bytes than were sent'));
    expect(methods()).toEqual(['PUT', 'GET', 'GET', 'GET', 'PUT', 'GET', 'GET', 'GET']);
  });

  it('A server that knows no ranges can be compared for an object of one part, and for no larger one', async () => {
    server.fail('other-etag', 'no-ranges');
    expect(await store()).toMatchObject({ kind: 'stored' });
    server.fail('more-bytes', 'no-ranges');
    expect(await store()).toEqual(failed('the bucket holds other bytes than were sent'));
    const large = { ...object, bytes: Buffer.alloc(9 * 1024 * 1024, 'picture') };
    server.fail('other-etag', 'no-ranges');
    expect(await store({ object: large })).toEqual(
      failed('the checksum cannot be compared: the bucket answered 200'),
    );
  });

  it.for<BucketFault>(['other-bytes', 'more-bytes'])('In the bucket, %s are no copy', async (fault) => {
    server.fail(fault);
    expect(await store()).toEqual(failed('the bucket holds other bytes than were sent'));
  });

  it.for<[BucketFault, string]>([
    ['AccessDenied', 'the bucket answered 403 AccessDenied'],
    ['NoSuchBucket', 'the bucket answered 404 NoSuchBucket'],
    ['SlowDown', 'the bucket answered 503 SlowDown'],
    ['InternalError', 'the bucket answered 500 InternalError'],
    ['PermanentRedirect', 'the bucket answered 301 PermanentRedirect'],
    ['closed', 'the bucket gave no answer (connection closed)'],
    ['closed-after', 'the bucket gave no answer (connection closed)'],
  ])('%s is told with status and code', async ([fault, why]) => {
    server.fail(fault);
    expect(await store()).toEqual(failed(why));
  });

  it('A bucket that never answers ends with the time of the request', async () => {
    server.fail('silent');
    expect(await store({ limitMillis: 200 })).toEqual(failed('the bucket gave no answer (timeout)'));
  });

  it('Wrong keys, another region and another bucket are reported as S3 reports them', async () => {
    expect(await store({ keys: { secretAccessKey: 'another' } })).toEqual(
      failed('the bucket answered 403 SignatureDoesNotMatch'),
    );
    expect(await store({ keys: { accessKeyId: 'AKIAOTHER' } })).toEqual(
      failed('the bucket answered 403 InvalidAccessKeyId'),
    );
    expect(await store({ place: { region: 'us-east-1' } })).toEqual(
      failed('the bucket answered 400 AuthorizationHeaderMalformed'),
    );
    expect(await store({ place: { bucket: 'another' } })).toEqual(
      failed('the bucket answered 404 NoSuchBucket'),
    );
    expect(server.objects.size).toBe(0);
  });

  it('A private address is not called', async () => {
    const strict = { clock, outbound: createOutbound('public', { clock }) };
    const outcome = await storeObject({ place, keys }, object, strict);
    expect(outcome).toEqual(failed('the bucket gave no answer (address refused)'));
    expect(server.requests).toEqual([]);
  });
});
