/** What verifies a vendor's callbacks, as the vendor may answer when it is asked for it. */
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { Reply } from '../../lab/vendors/fakes/fake-vendor.ts';
import { startFakeFal } from '../../lab/vendors/fakes/fal/server.ts';
import { fakeFalAccount } from '../../lab/vendors/fakes/calls-back.ts';
import { systemClock } from '../../service/aws/clock.ts';
import type { TimeLimit } from '../../service/values/runtime.ts';
import { createCallbackKeys } from '../../service/vendors/callback-keys.ts';
import { createFal } from '../../service/vendors/fal/provider.ts';
import { createReplicate } from '../../service/vendors/replicate/provider.ts';
import { CallBroke } from '../../service/vendors/vendor-http.ts';
import { never, startAnsweringVendor } from './answering-vendor.ts';
import { stillClock } from './callback-stage.ts';
import { jobsLike } from './vendor-talk.ts';

const vendor = await startAnsweringVendor();
const fal = await startFakeFal();
afterAll(() => Promise.all([vendor.stop(), fal.stop()]));

describe('The secret of Replicate', () => {
  const ready = (reply: Reply): Promise<boolean | undefined> => {
    vendor.answerWith(reply);
    return Promise.resolve(createReplicate(vendor.settings).callback?.ready(never));
  };

  it.each([
    'whsec_',
    'whsec_AAAA',
    'whsec_not base64 not base64 not',
    'C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
    '',
    7,
  ])('The secret %j is none, so that nobody can sign with an empty key', async (key) =>
    expect(await ready({ status: 200, body: { key } })).toBe(false),
  );

  it.each([201, 302, 404, 500])('An answer with the status %i holds no secret', async (status) =>
    expect(await ready({ status, body: { key: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' } })).toBe(false),
  );

  it('The secret is asked for with the token, and it is what follows the prefix', async () => {
    vendor.answerWith({ status: 200, body: { key: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' } });
    const { callback } = createReplicate(vendor.settings);
    const now = Date.now();
    const time = String(Math.floor(now / 1_000));
    const body = Buffer.from('{"id":"job"}');
    const signature = createHmac('sha256', Buffer.from('C2FVsBQIhrscChlQIMV+b5sSYspob7oD', 'base64'))
      .update(`msg_1.${time}.{"id":"job"}`)
      .digest('base64');
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': time,
      'webhook-signature': `v1,${signature}`,
    };
    expect(await callback?.verify({ headers, body }, now, never)).toEqual({ kind: 'genuine', jobId: 'job' });
    expect(vendor.received.at(-1)).toMatchObject({
      method: 'GET',
      path: '/v1/webhooks/default/secret',
      headers: { authorization: 'Bearer key' },
    });
  });
});

describe('The public keys of fal', () => {
  const jwk = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
  const credentials = { read: async () => Promise.resolve(fakeFalAccount), forget: () => undefined };

  const verdictWith = async (reply: Reply): Promise<unknown> => {
    await createFal({
      name: 'fal',
      credentials: { ...credentials, read: async () => Promise.resolve('fake-fal-key') },
      clock: systemClock,
      baseUrl: fal.url,
    }).submit(jobsLike({ providerModel: 'fal-ai/flux-2-pro', callbackUrl: 'https://d.test/' })(), never);
    vendor.answerWith(reply);
    const { callback } = createFal({ ...vendor.settings, credentials });
    return callback?.verify(fal.callbackOf(fal.jobIds().at(-1) ?? ''), Date.now(), never);
  };
  const sawKeys = { kind: 'refused', why: 'the signature is wrong' };

  it.each<[string, Reply]>([
    ['no list', { status: 200, body: {} }],
    ['an empty list', { status: 200, body: { keys: [] } }],
    ['no JSON', { status: 200, body: 'keys' }],
    ['entries without a usable key', { status: 200, body: { keys: [null, 7, {}, { x: '!' }, rsa] } }],
    ['a key of another curve', { status: 200, body: { keys: [{ ...jwk, crv: 'X25519' }] } }],
    ['another status', { status: 404, body: { keys: [jwk] } }],
    ['a redirect', { status: 302, headers: { location: `${fal.url}/.well-known/jwks.json` }, body: '' }],
    ['a closed connection', { status: 'break' }],
  ])('Nothing can be verified when fal answers with %s', async (_what, reply) =>
    expect(await verdictWith(reply)).toEqual({ kind: 'unverifiable' }),
  );

  it('The keys are asked for without our key, and unusable entries beside a good one do no harm', async () => {
    expect(await verdictWith({ status: 200, body: { keys: [rsa, { x: 'short' }, jwk] } })).toEqual(sawKeys);
    expect(vendor.received.at(-1)).toMatchObject({ method: 'GET', path: '/.well-known/jwks.json' });
    expect(vendor.received.at(-1)?.headers['authorization']).toBeUndefined();
  });
});

describe('Keys that are asked for', () => {
  it('A vendor that hangs is waited for as long as its own limit, not as long as the caller has time', async () => {
    const limit = new AbortController();
    const { clock } = stillClock();
    const waits: number[] = [];
    const keys = createCallbackKeys({
      clock: {
        ...clock,
        timeout: (millis) => {
          waits.push(millis);
          return { signal: limit.signal, release: () => undefined };
        },
      },
      ask: (signal) =>
        new Promise<string>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    });
    const reading = keys.read(never);
    limit.abort();
    expect(await reading).toBeUndefined();
    expect(waits).toEqual([3_000]);
  });

  it('The limit is released when the vendor has answered, or the call broke', async () => {
    let held = 0;
    const timeout = (): TimeLimit => {
      held += 1;
      return { signal: never, release: () => void (held -= 1) };
    };
    const clock = { ...stillClock().clock, timeout };
    await createCallbackKeys({ clock, ask: () => Promise.resolve('key') }).read(never);
    await createCallbackKeys({ clock, ask: () => Promise.reject(new CallBroke('EPIPE', true)) }).read(never);
    expect(held).toBe(0);
  });

  it('A caller whose signal aborts leaves, and the question goes on for the others', async () => {
    const { clock } = stillClock();
    const { promise, resolve } = Promise.withResolvers<string>();
    const keys = createCallbackKeys({ clock, ask: () => promise });
    const leaver = new AbortController();
    const reason = new Error('over');
    const [left, stayed] = [keys.read(leaver.signal), keys.read(never)];
    leaver.abort(reason);
    await expect(left).rejects.toBe(reason);
    resolve('key');
    expect(await stayed).toBe('key');
  });

  it('A broken call counts as an absence, and a mistake of ours is thrown', async () => {
    const { clock } = stillClock();
    const failing = (error: Error): Promise<unknown> =>
      createCallbackKeys({ clock, ask: () => Promise.reject(error) }).read(never);
    expect(await failing(new CallBroke('ECONNRESET', true))).toBeUndefined();
    await expect(failing(new Error('a mistake'))).rejects.toThrow('a mistake');
  });
});
