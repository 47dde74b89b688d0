import { randomBytes } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { everyAnswer } from './every-answer.ts';
import { startBucketServer } from '../../lab/buckets/bucket-server.ts';
import { getItem } from '../../service/aws/dynamodb/send.ts';
import { keys } from '../../service/aws/dynamodb/table.ts';
import { bucketKey } from '../../service/copies/bucket-store.ts';
import type { CopyState } from '../../service/creations/creation.ts';
import { noticeIdOfCopy } from '../../service/values/ids.ts';
import { type Answer, type Client, startTestService } from '../fixtures/service.ts';
import { creationIdIn } from '../fixtures/values.ts';
import { adminJson, refusal } from '../admin/admin-run.ts';
import { recordOf, submit } from './workflow/creations.ts';

const service = await startTestService();
const secret = `secret-${randomBytes(8).toString('hex')}`;
const credentials = { access_key_id: 'AKIATEST', secret_access_key: secret };
const server = await startBucketServer({
  bucket: 'our-pictures',
  region: 'eu-test-1',
  accessKeyId: credentials.access_key_id,
  secretAccessKey: secret,
  now: () => service.operator.clock.now(),
});
const place = { endpoint: server.url, bucket: 'our-pictures', prefix: 'darkroom/', region: 'eu-test-1' };
afterAll(async () => {
  expect(await service.audit()).toEqual([]);
  // Neither the log nor the history of an execution has the keys.
  expect(service.log.join('\n')).not.toContain(secret);
  await server.end();
  await service.end();
});
beforeEach(() => {
  server.calm();
  server.requests.splice(0);
});

interface Shown {
  readonly copy?: object;
  readonly result_urls: readonly string[];
  readonly error: { readonly details: { readonly errors: readonly object[] } };
}
type Told = Omit<Answer, 'body'> & { readonly body: Shown };

const bucket = async (by: Client, method: string, body?: object): Promise<Told> =>
  service.send('/results/bucket', { key: by.key, method, ...(body && { body }) });
const show = async (id: string, by: Client): Promise<Told> =>
  service.send(`/creations/${id}`, { key: by.key });
const sent = (): string[] => server.requests.map(({ method, path }) => `${method} ${path}`);

async function withBucket(): Promise<Client> {
  const client = await service.client({ postRate: '1000' });
  const answer = await bucket(client, 'PUT', { ...place, credentials });
  expect(answer.status, answer.text).toBe(200);
  server.requests.splice(0);
  return client;
}

async function completed(by: Client): Promise<string> {
  const id = await submit(service, by.key, { prompt: 'a castle on a hill' });
  await service.ended(id);
  return id;
}

const copyOf = async (id: string): Promise<CopyState | undefined> => (await recordOf(service, id)).copy;

describe('The bucket of an account', () => {
  it('It is set once it has taken a small object, and shown without its keys', async () => {
    const client = await service.client();
    expect((await bucket(client, 'GET')).status).toBe(404);
    const answer = await bucket(client, 'PUT', { ...place, credentials });
    expect(answer.body).toEqual({ ...place, updated_at: expect.any(String) as string });
    const test = '/our-pictures/darkroom/darkroom-test.txt';
    expect(sent()).toEqual([`PUT ${test}`, `DELETE ${test}`]);
    expect((await bucket(client, 'GET')).body).toEqual(answer.body);
    const item = await getItem(service.operator.table, bucketKey(client.account.id));
    expect(JSON.stringify(item)).not.toContain(secret);
    expect((await bucket(client, 'DELETE')).status).toBe(204);
    expect((await bucket(client, 'DELETE')).status).toBe(204);
    expect((await bucket(client, 'GET')).status).toBe(404);
  });

  it('What the bucket refuses is 400 in its own words, and nothing is set', async () => {
    const client = await service.client();
    const wrong = { ...credentials, secret_access_key: 'another' };
    const refused = await bucket(client, 'PUT', { ...place, credentials: wrong });
    expect([refused.status, refused.body.error.details.errors]).toEqual([
      400,
      [{ field: 'bucket', code: 'bucket_refused', message: 'the bucket answered 403 SignatureDoesNotMatch' }],
    ]);
    expect((await bucket(client, 'GET')).status).toBe(404);
  });

  it.for<[object, string]>([
    [{ endpoint: 'https://10.0.0.1' }, 'endpoint'],
    [{ endpoint: 'ftp://example.com' }, 'endpoint'],
    [{ endpoint: `${server.url}/path` }, 'endpoint'],
    [{ bucket: 'a/b' }, 'bucket'],
    [{ prefix: '/darkroom' }, 'prefix'],
    [{ prefix: 'a/../b/' }, 'prefix'],
    [{ prefix: 'x'.repeat(201) }, 'prefix'],
    [{ region: '' }, 'region'],
    [{ credentials: { ...credentials, access_key_id: '' } }, 'credentials.access_key_id'],
    [{ acl: 'public' }, 'acl'],
  ])('%j is refused, and nothing is called', async ([change, field]) => {
    const client = await service.client();
    const refused = await bucket(client, 'PUT', { ...place, credentials, ...change });
    expect(refused.status).toBe(400);
    expect(refused.body.error.details.errors).toMatchObject([{ field }]);
    expect(refused.text).not.toContain(secret);
    expect(sent()).toEqual([]);
  });
});

describe('The picture of an account with a bucket', () => {
  it('It is copied once, equal, and the creation says where it is', async () => {
    const client = await withBucket();
    const id = await completed(client);
    const key = `darkroom/${id}.png`;
    await expect.poll(() => copyOf(id)).toMatchObject({ status: 'copied' });
    const { body } = await show(id, client);
    expect(body.copy).toEqual({
      status: 'copied',
      attempts: 1,
      url: `${server.url}/our-pictures/${key}`,
      error: null,
    });
    const served = Buffer.from(await (await fetch(body.result_urls[0] ?? '')).arrayBuffer());
    const stored = server.objects.get(key);
    expect(stored).toMatchObject({ contentType: 'image/png', puts: 1 });
    expect(stored?.bytes.equals(served)).toBe(true);
    service.jump(3_600);
    await service.machine.advance(1);
    expect(sent()).toEqual([`PUT /our-pictures/${key}`]);
    const { operator } = service;
    const work = await getItem(operator.table, keys.notice(noticeIdOfCopy(creationIdIn(id))));
    expect(work?.['openShard']).toBeUndefined();
  });

  it('A failing bucket is tried five times, 60, 120, 240 and 480 s apart, and again by hand', async () => {
    const client = await withBucket();
    server.fail('AccessDenied', 'SlowDown', 'PermanentRedirect', 'closed', 'InternalError');
    const id = await completed(client);
    await expect.poll(() => copyOf(id)).toMatchObject({ attempts: 1 });
    expect((await show(id, client)).body.copy).toEqual({
      status: 'pending',
      attempts: 1,
      url: null,
      error: 'the bucket answered 403 AccessDenied',
    });
    const early = await bucket(client, 'POST', { creation_id: id });
    expect([early.status, early.body.error.details]).toEqual([
      400,
      { reason: 'still_pending', status: 'completed' },
    ]);
    await service.machine.advance(1000);
    await expect
      .poll(() => copyOf(id))
      .toEqual({
        status: 'failed',
        attempts: 5,
        url: null,
        error: 'the bucket answered 500 InternalError',
      });
    const puts = server.requests.filter(({ method }) => method === 'PUT').map(({ at }) => at);
    const waits = puts.slice(1).map((at, index) => Math.round((at - (puts[index] ?? 0)) / 1000));
    expect(waits).toEqual([60, 120, 240, 480]);
    service.jump(7_200);
    await service.machine.advance(1);
    expect(server.requests.filter(({ method }) => method === 'PUT')).toHaveLength(5);

    const again = await bucket(client, 'POST', { creation_id: id });
    expect([again.status, again.body.copy]).toEqual([
      202,
      { status: 'pending', attempts: 0, url: null, error: null },
    ]);
    await expect.poll(() => copyOf(id)).toMatchObject({ status: 'copied', attempts: 1 });
  });

  it('After a deletion of the results nothing is copied any more, and what is there stays', async () => {
    const client = await withBucket();
    const there = await completed(client);
    await expect.poll(() => copyOf(there)).toMatchObject({ status: 'copied' });
    server.fail('SlowDown');
    const id = await completed(client);
    await expect.poll(() => copyOf(id)).toMatchObject({ attempts: 1 });
    for (const one of [there, id])
      await service.send(`/creations/${one}/results`, { key: client.key, method: 'DELETE' });
    await service.machine.advance(1000);
    await expect
      .poll(() => copyOf(id))
      .toEqual({ status: 'failed', attempts: 1, url: null, error: 'the picture was deleted' });
    expect(server.objects.has(`darkroom/${id}.png`)).toBe(false);
    expect(server.objects.has(`darkroom/${there}.png`)).toBe(true);
    const again = await bucket(client, 'POST', { creation_id: there });
    expect(again.body.error.details).toEqual({ reason: 'no_results', status: 'completed' });
  });

  it('Without the bucket an owed copy is dropped, and nothing is called', async () => {
    const client = await withBucket();
    server.fail('SlowDown');
    const id = await completed(client);
    await expect.poll(() => copyOf(id)).toMatchObject({ attempts: 1 });
    await bucket(client, 'DELETE');
    const calls = sent().length;
    await service.machine.advance(1000);
    await expect
      .poll(() => copyOf(id))
      .toMatchObject({
        status: 'failed',
        error: 'the account has no bucket any more',
      });
    const later = await completed(client);
    expect((await recordOf(service, later)).copies).toBeUndefined();
    expect((await show(later, client)).body).not.toHaveProperty('copy');
    expect(sent()).toHaveLength(calls);
  });

  it('A lost start is made good by the reconciler', async () => {
    const client = await withBucket();
    service.machine.faults.set({
      call: 'states:StartExecution',
      error: 'Throttling',
      match: 'ntc_',
      every: 1,
    });
    const id = await completed(client);
    service.machine.faults.clear();
    expect(await copyOf(id)).toMatchObject({ status: 'pending', attempts: 0 });
    await service.machine.advance(300);
    await expect.poll(() => copyOf(id)).toMatchObject({ status: 'copied' });
  });

  it('An operator sees the copy, and makes it again', async () => {
    const client = await withBucket();
    const id = await completed(client);
    await expect.poll(() => copyOf(id)).toMatchObject({ status: 'copied' });
    server.objects.clear();
    const again = await adminJson(service.folder, 'creations', 'copy', id);
    expect(again).toMatchObject({ id, copy: { status: 'pending', attempts: 0 } });
    await expect.poll(() => copyOf(id)).toMatchObject({ status: 'copied', attempts: 1 });
    expect(server.objects.has(`darkroom/${id}.png`)).toBe(true);
    const shown = await adminJson(service.folder, 'creations', 'show', id);
    expect(shown).toMatchObject({ copy: { url: `${server.url}/our-pictures/darkroom/${id}.png` } });
    await bucket(client, 'DELETE');
    expect(await refusal(service.folder, 'creations', 'copy', id)).toMatch(/has no bucket/);
  });

  it('Another account cannot have a picture copied', async () => {
    const [client, other] = [await withBucket(), await withBucket()];
    const id = await completed(client);
    await expect.poll(() => copyOf(id)).toMatchObject({ status: 'copied' });
    expect((await bucket(other, 'POST', { creation_id: id })).status).toBe(404);
  });
});

everyAnswer(() => service);
