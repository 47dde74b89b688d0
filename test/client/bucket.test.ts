/** The bucket for copies: how its calls are sent and repeated, and what they give at the real service. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBucketServer } from '../../lab/buckets/bucket-server.ts';
import { Darkroom, InvalidRequest, NotFound } from '../../client/src/index.ts';
import { sharedTestService, type TestService } from '../fixtures/service.ts';
import { json, refusal, stub, thrownBy } from './stub.ts';

const credentials = {
  access_key_id: 'AKIATEST',
  secret_access_key: `secret-${randomBytes(8).toString('hex')}`,
};
const place = { endpoint: 'https://s3.example.com', bucket: 'our-pictures', prefix: '', region: 'auto' };
const broken = new TypeError('fetch failed');
const nothing = (): Response => new Response(null, { status: 204 });

describe('The calls of the bucket', () => {
  it('Each is one request to one path, and only the POST has an Idempotency-Key', async () => {
    const { darkroom, sent } = stub([json(place), json(place), json({ id: 'c1' }, 202), nothing()]);
    const { bucket } = darkroom.results;
    expect(await bucket.get()).toEqual(place);
    await bucket.set({ ...place, credentials });
    await bucket.copy('c1', { idempotencyKey: 'again-1' });
    await bucket.remove();
    expect(sent.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['GET', '/results/bucket', undefined],
      ['PUT', '/results/bucket', { ...place, credentials }],
      ['POST', '/results/bucket', { creation_id: 'c1' }],
      ['DELETE', '/results/bucket', undefined],
    ]);
    expect(sent.map(({ headers }) => headers.get('idempotency-key'))).toEqual([null, null, 'again-1', null]);
  });

  it('A connection that breaks is repeated with the same request', async () => {
    const { darkroom, sent } = stub([
      broken,
      json(place),
      broken,
      nothing(),
      broken,
      json({ id: 'c1' }, 202),
    ]);
    const { bucket } = darkroom.results;
    await bucket.set({ ...place, credentials });
    await bucket.remove();
    await bucket.copy('c1');
    const told = sent.map(({ method, body, headers }) =>
      JSON.stringify([method, body, headers.get('idempotency-key')]),
    );
    expect(told.filter((_, index) => index % 2 === 0)).toEqual(told.filter((_, index) => index % 2 === 1));
    expect(sent).toHaveLength(6);
  });

  it('A copy that is owed already is not asked for again, and says whether an earlier attempt was lost', async () => {
    const owed = (): Response => refusal(400, 'ERR_INVALID_REQUEST', { reason: 'still_pending' });
    const at = async (...replies: readonly (Response | Error)[]): Promise<unknown> => {
      const { darkroom, sent } = stub(replies);
      const error = await thrownBy(darkroom.results.bucket.copy('c1'));
      expect(sent).toHaveLength(replies.length);
      expect(error).toBeInstanceOf(InvalidRequest);
      return [(error as InvalidRequest).reason, (error as InvalidRequest).cause !== undefined];
    };
    expect(await at(owed())).toEqual(['still_pending', false]);
    expect(await at(broken, owed())).toEqual(['still_pending', true]);
  });
});

describe('The bucket at the real service', () => {
  let service: TestService;
  let server: Awaited<ReturnType<typeof startBucketServer>>;
  beforeAll(async () => {
    service = await sharedTestService();
    const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = credentials;
    server = await startBucketServer({
      bucket: place.bucket,
      region: 'eu-test-1',
      accessKeyId,
      secretAccessKey,
      now: () => service.operator.clock.now(),
    });
  });
  afterAll(async () => {
    await server.end();
    await service.end();
  });

  it('It is set and read, gets a copy of an older image, and is removed', async () => {
    const { key } = await service.client({ postRate: '1000' });
    const darkroom = new Darkroom({ apiKey: key, baseUrl: service.machine.apiUrl });
    const { bucket } = darkroom.results;
    const request = { ...place, endpoint: server.url, region: 'eu-test-1', credentials };
    expect(await thrownBy(bucket.get())).toBeInstanceOf(NotFound);
    const done = await darkroom.images.generateAndWait({ model: 'sandbox-sketch', prompt: 'a lake' });
    expect(await thrownBy(bucket.copy(done))).toBeInstanceOf(NotFound);

    const another = { ...credentials, secret_access_key: 'another' };
    const refused = await thrownBy(bucket.set({ ...request, credentials: another }));
    expect(refused).toMatchObject({ name: 'InvalidRequest', errors: [{ code: 'bucket_refused' }] });
    const set = await bucket.set(request);
    expect(await bucket.get()).toEqual(set);
    expect(JSON.stringify(set)).not.toContain(credentials.secret_access_key);

    expect((await bucket.copy(done)).copy).toEqual({
      status: 'pending',
      attempts: 0,
      url: null,
      error: null,
    });
    const copyNow = async (): Promise<object | undefined> => {
      const now = await darkroom.creations.get(done.id);
      return now.status === 'completed' ? now.copy : undefined;
    };
    const url = `${server.url}/our-pictures/${done.id}.png`;
    await expect.poll(copyNow).toEqual({ status: 'copied', attempts: 1, url, error: null });
    expect(server.objects.get(`${done.id}.png`)?.bytes).toHaveLength(done.results[0]?.bytes ?? 0);

    await bucket.remove();
    await bucket.remove();
    expect(await thrownBy(bucket.get())).toBeInstanceOf(NotFound);
  });
});
