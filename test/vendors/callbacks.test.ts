/**
 * Callbacks of fal and Replicate: what is genuine, what is refused, and what cannot be verified. The file is long
 * because the same tests hold for both vendors, and share their fakes.
 */
import { afterAll, describe, expect, it } from 'vitest';
import {
  type CallbackOptions,
  type CallingVendor,
  fakeFalAccount,
} from '../../lab/vendors/fakes/calls-back.ts';
import { startFakeFal } from '../../lab/vendors/fakes/fal/server.ts';
import { startFakeReplicate } from '../../lab/vendors/fakes/replicate/server.ts';
import { createFal } from '../../service/vendors/fal/provider.ts';
import {
  callbackAccountOf,
  type CallbackRequest,
  type CallbackVerdict,
  type ImageProvider,
  type ProviderCallback,
  type VendorSettings,
} from '../../service/vendors/provider.ts';
import { createReplicate } from '../../service/vendors/replicate/provider.ts';
import { never } from './answering-vendor.ts';
import { type HeldCredentials, settingsFor, stillClock, type StillClock } from './callback-stage.ts';
import { jobsLike } from './vendor-talk.ts';

const fal = await startFakeFal();
const replicate = await startFakeReplicate();
afterAll(() => Promise.all([fal.stop(), replicate.stop()]));

interface Vendor {
  readonly name: 'fal' | 'replicate';
  readonly fake: CallingVendor;
  readonly create: (settings: VendorSettings) => ImageProvider;
  readonly model: string;
  readonly key: string;
  /** A request for what verifies callbacks. */
  readonly keyPath: string;
  readonly headers: readonly string[];
}

const vendors: readonly Vendor[] = [
  {
    name: 'fal',
    fake: fal,
    create: createFal,
    model: 'fal-ai/flux-2-pro',
    key: 'fake-fal-key',
    keyPath: '/.well-known/jwks.json',
    headers: ['request-id', 'user-id', 'timestamp', 'signature'].map((part) => `x-fal-webhook-${part}`),
  },
  {
    name: 'replicate',
    fake: replicate,
    create: createReplicate,
    model: 'black-forest-labs/flux-2-pro',
    key: 'fake-replicate-key',
    keyPath: '/v1/webhooks/default/secret',
    headers: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  },
];
const [ofFal, ofReplicate] = vendors;
if (!ofFal || !ofReplicate) throw new Error('a vendor is missing');

interface Stage extends StillClock {
  readonly callback: ProviderCallback;
  readonly held: HeldCredentials;
  /** The accepted id of a job that was submitted with an address, and the id of the vendor. */
  submitted(): Promise<{ readonly acceptedId: string; readonly jobId: string }>;
  /** The verdict on a callback about the job, at the time of the still clock unless the options say another. */
  verdictOn(jobId: string, options?: CallbackOptions): Promise<CallbackVerdict>;
  verify(request: CallbackRequest): Promise<CallbackVerdict>;
  /** How often the vendor was asked for what verifies callbacks. */
  keyRequests(): number;
}

const address = 'https://darkroom.test/callbacks/v1/x?a=b&c=ü';

function stageFor({ name, fake, create, model, key, keyPath }: Vendor): Stage {
  const time = stillClock();
  const held: HeldCredentials = {
    values: { [name]: key, [callbackAccountOf('fal')]: fakeFalAccount },
    isLost: false,
    forgotten: [],
  };
  const provider = create(settingsFor(name, fake, time.clock, held));
  const { callback } = provider;
  if (!callback) throw new Error(`${name} has no callbacks`);
  const before = fake.received.length;
  const job = jobsLike({ providerModel: model, callbackUrl: address })();
  const verify: Stage['verify'] = (request) => callback.verify(request, time.now(), never);
  return {
    ...time,
    callback,
    held,
    submitted: async () => {
      const answer = await provider.submit(job, never);
      const jobId = fake.jobIds().at(-1);
      if (answer.kind !== 'pending' || jobId === undefined) throw new Error('the job was not accepted');
      return { acceptedId: answer.jobId, jobId };
    },
    verify,
    verdictOn: (jobId, options) => verify(fake.callbackOf(jobId, { at: time.now(), ...options })),
    keyRequests: () => fake.received.slice(before).filter(({ path }) => path === keyPath).length,
  };
}

/** A stage with a job that was submitted. */
async function submittedAt(vendor: Vendor): Promise<{ readonly stage: Stage; readonly jobId: string }> {
  const stage = stageFor(vendor);
  return { stage, jobId: (await stage.submitted()).jobId };
}

const unverifiable = { kind: 'unverifiable' };
const refused = (why: string): object => ({ kind: 'refused', why });
const wrongSignature = refused('the signature is wrong');
const untimely = refused('its time is more than 5 minutes away');
const minute = 60_000;

describe.each(vendors)('A callback of $name', (vendor) => {
  const { name, fake, headers } = vendor;

  it('A genuine callback names its job, which is the job that was accepted and no other', async () => {
    const stage = stageFor(vendor);
    const [first, second] = [await stage.submitted(), await stage.submitted()];
    expect(fake.callbackUrlOf(first.jobId)).toBe(address);
    expect(await stage.verdictOn(first.jobId)).toEqual({ kind: 'genuine', jobId: first.jobId });
    expect(stage.callback.isJob(first.acceptedId, first.jobId)).toBe(true);
    expect(stage.callback.isJob(second.acceptedId, first.jobId)).toBe(false);
    expect(stage.callback.isJob('', '')).toBe(false);
  });

  it('A genuine callback about another job of the account names the other job', async () => {
    const stage = stageFor(vendor);
    const [first, second] = [await stage.submitted(), await stage.submitted()];
    expect(await stage.verdictOn(first.jobId, { aboutJob: second.jobId })).toEqual({
      kind: 'genuine',
      jobId: second.jobId,
    });
  });

  it('A genuine callback is genuine again when it comes again', async () => {
    const { stage, jobId } = await submittedAt(vendor);
    const request = fake.callbackOf(jobId, { at: stage.now() });
    for (let times = 0; times < 3; times += 1)
      expect(await stage.verify(request)).toEqual({ kind: 'genuine', jobId });
    expect(stage.keyRequests()).toBe(1);
  });

  it('A body with characters of every length is verified by its bytes', async () => {
    const { stage, jobId } = await submittedAt(vendor);
    const more = { prompt: 'é 湖 🏞 \u2028 \\u0000' };
    expect(await stage.verdictOn(jobId, { more })).toEqual({ kind: 'genuine', jobId });
    expect(await stage.verdictOn(jobId, { more, isAltered: true })).toEqual(wrongSignature);
  });

  it('The names of the headers may be in any case', async () => {
    const { stage, jobId } = await submittedAt(vendor);
    const { headers: sent, body } = fake.callbackOf(jobId, { at: stage.now() });
    const loud = Object.fromEntries(Object.entries(sent).map(([key, value]) => [key.toUpperCase(), value]));
    expect(await stage.verify({ headers: loud, body })).toEqual({ kind: 'genuine', jobId });
    expect(await stage.verify({ headers: { ...sent, ...loud }, body })).toEqual(
      refused('a header is missing'),
    );
  });

  it.each(headers)('A callback without the header %s is refused without a question', async (header) => {
    const { stage, jobId } = await submittedAt(vendor);
    expect(await stage.verdictOn(jobId, { headers: { [header]: undefined } })).toEqual(
      refused('a header is missing'),
    );
    expect(stage.keyRequests()).toBe(0);
  });

  it('A callback with the signature of another key, or whose body, id or time was altered, is refused', async () => {
    const { stage, jobId } = await submittedAt(vendor);
    const [id = ''] = headers;
    const time = headers.find((header) => header.endsWith('timestamp')) ?? '';
    const later = String(Math.floor(stage.now() / 1_000) + 1);
    expect(await stage.verdictOn(jobId, { hasWrongKey: true })).toEqual(wrongSignature);
    expect(await stage.verdictOn(jobId, { isAltered: true })).toEqual(wrongSignature);
    expect(await stage.verdictOn(jobId, { headers: { [id]: 'another' } })).toEqual(wrongSignature);
    expect(await stage.verdictOn(jobId, { headers: { [time]: later } })).toEqual(wrongSignature);
  });

  it.each([
    [-5 * minute, true],
    [-5 * minute - 1_000, false],
    [5 * minute, true],
    [5 * minute + 1_000, false],
  ])('A callback signed %i ms from now is genuine: %j', async (offset, isGenuine) => {
    const { stage, jobId } = await submittedAt(vendor);
    const verdict = await stage.verdictOn(jobId, { at: stage.now() + offset });
    expect(verdict).toEqual(isGenuine ? { kind: 'genuine', jobId } : untimely);
  });

  it('A callback is genuine for five minutes, and not for a millisecond more', async () => {
    const { stage, jobId } = await submittedAt(vendor);
    const request = fake.callbackOf(jobId, { at: stage.now() });
    stage.pass(5 * minute);
    expect(await stage.verify(request)).toEqual({ kind: 'genuine', jobId });
    stage.pass(1);
    expect(await stage.verify(request)).toEqual(untimely);
  });

  it.each(['', 'soon', ' NOW', '+NOW', 'NOW.0', 'NOWe0', '-NOW', '000NOW'])(
    'A callback with the time %j is refused as untimely, where NOW is the right time',
    async (text) => {
      const { stage, jobId } = await submittedAt(vendor);
      const time = headers.find((header) => header.endsWith('timestamp')) ?? '';
      const value = text.replace('NOW', String(stage.now() / 1_000));
      expect(await stage.verdictOn(jobId, { headers: { [time]: value } })).toEqual(untimely);
    },
  );

  it('A body that is no JSON object, or that names no job, is refused even with a good signature', async () => {
    const { stage, jobId } = await submittedAt(vendor);
    const field = name === 'fal' ? 'request_id' : 'id';
    const why = name === 'fal' ? 'the body names another job than the header' : 'the body names no job';
    for (const value of [undefined, 7, '', 'a b'])
      expect(await stage.verdictOn(jobId, { more: { [field]: value } })).toEqual(refused(why));
  });

  it('The vendor is asked again about its keys after a day, and a withdrawn key no longer counts', async () => {
    const { stage, jobId } = await submittedAt(vendor);
    const old = (at: number): CallbackRequest => fake.callbackOf(jobId, { at });
    await stage.verdictOn(jobId);
    const [soon, late] = [old(stage.now() + 24 * 60 * minute - 1), old(stage.now() + 24 * 60 * minute)];
    fake.changeKey();
    stage.pass(24 * 60 * minute - 1);
    expect(await stage.verify(soon)).toEqual({ kind: 'genuine', jobId });
    expect(stage.keyRequests()).toBe(1);
    stage.pass(1);
    expect(await stage.verify(late)).toEqual(wrongSignature);
    expect(stage.keyRequests()).toBe(2);
  });

  it('A changed key is asked for once the held one is a minute old', async () => {
    const { stage, jobId } = await submittedAt(vendor);
    await stage.verdictOn(jobId);
    fake.changeKey();
    stage.pass(minute - 1);
    expect(await stage.verdictOn(jobId)).toEqual(wrongSignature);
    expect(stage.keyRequests()).toBe(1);
    stage.pass(1);
    expect(await stage.verdictOn(jobId)).toEqual({ kind: 'genuine', jobId });
    expect(stage.keyRequests()).toBe(2);
  });

  it('Forged callbacks make the vendor be asked once a minute at the most', async () => {
    const { stage, jobId } = await submittedAt(vendor);
    stage.pass(minute);
    for (let second = 0; second < 60; second += 1) {
      expect(await stage.verdictOn(jobId, { hasWrongKey: true })).toEqual(wrongSignature);
      stage.pass(1_000);
    }
    expect(stage.keyRequests()).toBe(1);
    await Promise.all(Array.from({ length: 9 }, () => stage.verdictOn(jobId, { hasWrongKey: true })));
    expect(stage.keyRequests()).toBe(2);
  });

  it('Callbacks that come at once wait for one question, and all are genuine', async () => {
    const { stage, jobId } = await submittedAt(vendor);
    const verdicts = await Promise.all(Array.from({ length: 9 }, () => stage.verdictOn(jobId)));
    expect(verdicts).toEqual(Array.from({ length: 9 }, () => ({ kind: 'genuine', jobId })));
    expect(stage.keyRequests()).toBe(1);
  });

  it.each(['away', 'empty'] as const)(
    'While the vendor’s keys are %s nothing is genuine, and the vendor is asked again after five seconds',
    async (state) => {
      const { stage, jobId } = await submittedAt(vendor);
      fake.keySource(state);
      expect(await stage.verdictOn(jobId)).toEqual(unverifiable);
      expect(await stage.verdictOn(jobId)).toEqual(unverifiable);
      expect(stage.keyRequests()).toBe(1);
      fake.keySource('here');
      stage.pass(4_999);
      expect(await stage.verdictOn(jobId)).toEqual(unverifiable);
      stage.pass(1);
      expect(await stage.verdictOn(jobId)).toEqual({ kind: 'genuine', jobId });
      expect(stage.keyRequests()).toBe(2);
    },
  );

  it('A callback that only a changed key could verify waits while the vendor’s keys are away', async () => {
    const { stage, jobId } = await submittedAt(vendor);
    await stage.verdictOn(jobId);
    fake.changeKey();
    fake.keySource('away');
    stage.pass(minute);
    expect(await stage.verdictOn(jobId)).toEqual(unverifiable);
    expect(await stage.verdictOn(jobId)).toEqual(unverifiable);
    expect(stage.keyRequests()).toBe(2);
    fake.keySource('here');
    stage.pass(minute);
    expect(await stage.verdictOn(jobId)).toEqual({ kind: 'genuine', jobId });
  });

  it('Held keys verify callbacks while the vendor’s keys are away', async () => {
    const { stage, jobId } = await submittedAt(vendor);
    await stage.verdictOn(jobId);
    fake.keySource('away');
    stage.pass(60 * minute);
    expect(await stage.verdictOn(jobId)).toEqual({ kind: 'genuine', jobId });
    fake.keySource('here');
  });

  it('Nothing can be verified while the secret store is away', async () => {
    const { stage, jobId } = await submittedAt(vendor);
    stage.held.isLost = true;
    expect(await stage.callback.ready(never)).toBe(false);
    expect(await stage.verdictOn(jobId)).toEqual(unverifiable);
  });

  it('A caller that waits for the vendor’s keys stops waiting when its signal aborts', async () => {
    const { stage, jobId } = await submittedAt(vendor);
    const reason = new Error('over');
    const request = fake.callbackOf(jobId, { at: stage.now() });
    await expect(stage.callback.verify(request, stage.now(), AbortSignal.abort(reason))).rejects.toBe(reason);
    await expect(stage.callback.ready(AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(stage.keyRequests()).toBe(0);
  });
});

describe('The account at fal', () => {
  it('A validly signed callback of another account is refused, and fal is not asked for its keys', async () => {
    const { stage, jobId } = await submittedAt(ofFal);
    for (const account of ['github|7654321', fakeFalAccount.toUpperCase(), `${fakeFalAccount} `, ''])
      expect(await stage.verdictOn(jobId, { account })).toEqual(refused('another account'));
    expect(stage.keyRequests()).toBe(0);
  });

  it('Without a pinned account no job gets an address, and every callback is refused', async () => {
    const { stage, jobId } = await submittedAt(ofFal);
    expect(await stage.callback.ready(never)).toBe(true);
    stage.held.values[callbackAccountOf('fal')] = undefined;
    expect(await stage.callback.ready(never)).toBe(false);
    expect(await stage.verdictOn(jobId)).toEqual(refused('no account is pinned'));
    expect(await stage.verdictOn(jobId, { account: '' })).toEqual(refused('no account is pinned'));
  });

  it.each([
    ['x-fal-webhook-request-id', 'a\nb'],
    ['x-fal-webhook-request-id', ''],
    ['x-fal-webhook-signature', 'zz'],
    ['x-fal-webhook-signature', ''],
    ['x-fal-webhook-signature', 'ab'.repeat(65)],
  ])('A callback with the header %s %j is refused without asking fal', async (header, value) => {
    const { stage, jobId } = await submittedAt(ofFal);
    expect(await stage.verdictOn(jobId, { headers: { [header]: value } })).toEqual(
      refused('a header has an unknown form'),
    );
    expect(stage.keyRequests()).toBe(0);
  });

  it('A job id whose addresses have another form belongs to no callback', () => {
    const { callback } = stageFor(ofFal);
    expect(callback.isJob('0 https://fal.run/s https://fal.run/r/id https://fal.run/c', 'id')).toBe(false);
    expect(callback.isJob('0 https://fal.run/s https://fal.run/requests/id https://fal.run/c', 'id')).toBe(
      true,
    );
  });
});

describe('The secret of Replicate', () => {
  it('Callbacks are ready while the secret can be read', async () => {
    const stage = stageFor(ofReplicate);
    expect(await stage.callback.ready(never)).toBe(true);
    expect(await stage.callback.ready(never)).toBe(true);
    expect(stage.keyRequests()).toBe(1);
    const another = stageFor(ofReplicate);
    replicate.keySource('away');
    expect(await another.callback.ready(never)).toBe(false);
    replicate.keySource('here');
  });

  it('Without a token there is no secret, and Replicate is not asked', async () => {
    const { stage, jobId } = await submittedAt(ofReplicate);
    stage.held.values['replicate'] = undefined;
    expect(await stage.callback.ready(never)).toBe(false);
    expect(await stage.verdictOn(jobId)).toEqual(unverifiable);
    expect(stage.keyRequests()).toBe(0);
  });

  it('A refused token is read again, and nothing is genuine', async () => {
    const { stage, jobId } = await submittedAt(ofReplicate);
    stage.held.values['replicate'] = 'another';
    expect(await stage.verdictOn(jobId)).toEqual(unverifiable);
    expect(stage.held.forgotten).toEqual(['replicate']);
  });

  it('One good signature in the list is enough, and other versions do not count', async () => {
    const { stage, jobId } = await submittedAt(ofReplicate);
    const { headers } = replicate.callbackOf(jobId, { at: stage.now() });
    const good = headers['webhook-signature'] ?? '';
    const verdictWith = (list: string): Promise<CallbackVerdict> =>
      stage.verdictOn(jobId, { headers: { 'webhook-signature': list } });
    expect(await verdictWith(`v1,AAAA v1a,${good.slice(3)} ${good}`)).toEqual({ kind: 'genuine', jobId });
    expect(await verdictWith(good.replace('v1,', 'v2,'))).toEqual(wrongSignature);
    expect(await verdictWith(good.slice(3))).toEqual(wrongSignature);
    expect(await verdictWith('v1,')).toEqual(wrongSignature);
    expect(await verdictWith('')).toEqual(wrongSignature);
  });

  it('A full stop cannot move from the id into the time', async () => {
    const { stage, jobId } = await submittedAt(ofReplicate);
    expect(await stage.verdictOn(jobId, { headers: { 'webhook-id': 'msg.1' } })).toEqual(
      refused('a header has an unknown form'),
    );
  });
});
