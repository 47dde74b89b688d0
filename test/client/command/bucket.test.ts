/** `darkroom bucket`, against the real service and a bucket that checks signatures as S3 does. */
import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startBucketServer } from '../../../lab/buckets/bucket-server.ts';
import { settled, submit } from '../../whole/workflow/creations.ts';
import { type Said, useServedPerson } from './command-run.ts';

const served = useServedPerson();
const secret = `secret-${randomBytes(8).toString('hex')}`;
let server: Awaited<ReturnType<typeof startBucketServer>>;
let set: readonly string[];
beforeAll(async () => {
  server = await startBucketServer({
    bucket: 'our-pictures',
    region: 'eu-test-1',
    accessKeyId: 'AKIATEST',
    secretAccessKey: secret,
    now: () => served.service.operator.clock.now(),
  });
  const options = ['--region', 'eu-test-1', '--access-key-id', 'AKIATEST', '--prefix', 'darkroom/'];
  set = ['bucket', 'set', 'our-pictures', '--endpoint', server.url, ...options];
});
afterAll(async () => server.end());
beforeEach(async () => {
  server.calm();
  expect((await served.person.run(['bucket', 'remove'])).code).toBe(0);
});

const run = async (...args: readonly string[]): Promise<Said> => served.person.run(args);
const shown = async (id: string): Promise<unknown> =>
  ((await served.person.json('creations', 'show', id)) as { copy?: unknown }).copy;

const isCopied = async (id: string): Promise<void> =>
  expect.poll(() => shown(id)).toMatchObject({ status: 'copied' });

async function completed(prompt = 'a lake'): Promise<string> {
  const id = await submit(served.service, served.client.key, { prompt });
  await settled(served.service, id);
  return id;
}

describe('darkroom bucket set', () => {
  it('takes the secret from standard input, says what happens next, and never prints the secret', async () => {
    const said = await served.person.run(set, { input: `${secret}\n` });
    expect(said).toMatchObject({ code: 0, err: '' });
    expect(said.out).toMatch(/^bucket +our-pictures$/m);
    expect(said.out).toContain(
      `from now on is copied to ${server.url}/our-pictures/darkroom/ID.png, .jpg or`,
    );
    expect(said.out).not.toContain(secret);
    const { out } = await run('bucket', 'show');
    expect(out).toMatch(/^prefix +darkroom\/$/m);
    expect(out).not.toContain(secret);
  });

  it('takes the secret from DARKROOM_BUCKET_SECRET', async () => {
    const env = { DARKROOM_BUCKET_SECRET: secret };
    const { code, out } = await served.person.run(['--json', ...set], { env });
    expect([code, JSON.parse(out)]).toMatchObject([0, { endpoint: server.url, prefix: 'darkroom/' }]);
    expect(await served.person.json('bucket', 'show')).toEqual(JSON.parse(out));
  });

  it('asks for the secret on a terminal, and shows nothing of what is typed', async () => {
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
    const typing = served.person.run(set, { input, isTTY: true });
    input.write(`${secret}\r`);
    const { code, out, err } = await typing;
    expect([code, err]).toEqual([0, 'Secret access key of AKIATEST: \n']);
    expect(out).not.toContain(secret);
  });

  it('takes no secret as an argument, and none at all is an error of usage', async () => {
    expect(await run(...set, '--secret-access-key', secret)).toMatchObject({ code: 2, out: '' });
    const { code, err } = await run(...set);
    expect([code, err]).toEqual([
      2,
      'No secret access key was given.\nType it at the question, pipe it in, or set DARKROOM_BUCKET_SECRET.\n',
    ]);
    expect(await run('bucket', 'set', 'our-pictures')).toMatchObject({ code: 2, out: '' });
  });

  it('says what the bucket answered, and what the service refuses; nothing is set', async () => {
    const { code, out, err } = await served.person.run(set, { input: 'another' });
    expect([code, out, err]).toEqual([
      2,
      '',
      'Nothing was set: the bucket answered 403 SignatureDoesNotMatch.\n' +
        'Check the endpoint, the region, the name, both keys and what they may do.\n',
    ]);
    const wrong = await served.person.run([...set, '--prefix', '/darkroom'], { input: secret });
    expect(wrong).toMatchObject({ code: 2, out: '' });
    expect(wrong.err).toMatch(/^prefix: /);
    const none = await run('bucket', 'show', '--json');
    expect(none).toMatchObject({ code: 1, out: '' });
    expect(JSON.parse(none.err)).toMatchObject({
      error: {
        message: 'This account has no bucket for results.',
        fix: '`darkroom bucket set --help` says how to set one.',
        code: 'ERR_NOT_FOUND',
        request_id: expect.any(String) as string,
      },
    });
  });
});

describe('darkroom bucket copy', () => {
  it('copies an older image, and says how the copy stands', async () => {
    const id = await completed();
    const early = await run('bucket', 'copy', id);
    expect([early.code, early.err]).toEqual([
      1,
      'This account has no bucket for results.\n`darkroom bucket set --help` says how to set one.\n',
    ]);
    await served.person.run(set, { input: secret });
    const { code, out } = await run('bucket', 'copy', id);
    expect([code, out]).toEqual([
      0,
      `id    ${id}\ncopy  pending\n\n\`darkroom creations show ${id}\` says when it is copied.\n`,
    ]);
    const url = `${server.url}/our-pictures/darkroom/${id}.png`;
    await expect.poll(() => shown(id)).toMatchObject({ status: 'copied', attempts: 1, url });
    expect(await served.person.json('bucket', 'copy', id)).toMatchObject({ id, copy: { status: 'pending' } });
    await isCopied(id);
  });

  it('says why an image cannot be copied, and what to do', async () => {
    await served.person.run(set, { input: secret });
    const [failed, deleted] = [await completed('a fox [sandbox:fail]'), await completed()];
    const waiting = await submit(served.service, served.client.key, { prompt: 'a fox [sandbox:delay=60s]' });
    // The bucket fails once, so that no other copy may be under way.
    await isCopied(deleted);
    await run('results', 'delete', deleted);
    server.fail('SlowDown');
    const owed = await completed();
    await expect.poll(() => shown(owed)).toMatchObject({ status: 'pending', attempts: 1 });
    const unknown = '01a203f4-b6b2-7f46-ab5e-685a3df87699';
    const said = async (id: string): Promise<unknown> => {
      const { code, out, err } = await run('bucket', 'copy', id);
      expect([code, out]).toEqual([1, '']);
      return err.trim().split('\n');
    };
    expect(await said(failed)).toEqual([
      'Only the picture of a completed creation can be copied.',
      'A failed creation has no image.',
    ]);
    expect(await said(waiting)).toEqual([
      'Only the picture of a completed creation can be copied.',
      `\`darkroom creations wait ${waiting}\` waits for the image.`,
    ]);
    expect(await said(deleted)).toEqual([
      'The picture has expired or was deleted.',
      'There is nothing to copy: render the image again.',
    ]);
    expect(await said(owed)).toEqual([
      'The copy waits for its next attempt already.',
      `\`darkroom creations show ${owed}\` says how it stands.`,
    ]);
    expect(await said(unknown)).toEqual([
      'There is no creation with this id.',
      '`darkroom creations list` lists the creations of your account.',
    ]);
  });
});

it('darkroom bucket remove says that copies end, also where there is none', async () => {
  await served.person.run(set, { input: secret });
  for (const _ of [1, 2]) {
    const { code, out } = await run('bucket', 'remove');
    expect([code, out]).toEqual([
      0,
      'bucket  removed\n\nNothing is copied any more. What lies in the bucket stays.\n',
    ]);
  }
  expect((await run('bucket', 'show')).code).toBe(1);
});
