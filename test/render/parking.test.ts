import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { RouteAttempt } from '../../service/creations/creation.ts';
import { fakeProvider } from '../api/fakes.ts';
import { creationId, now, seededBytes } from '../fixtures/records.ts';
import { callingProvider } from './calling-provider.ts';
import { begun, bothRoutes, failsAt, pending, rendered, type Surroundings, walk } from './walk-fixture.ts';

const capability = Buffer.from(seededBytes(32)).toString('base64url');
const callbackHash = createHash('sha256').update(capability).digest('hex');
const oneRoute = { routes: bothRoutes.routes.slice(0, 1) };
const waiting: RouteAttempt = {
  ...begun,
  startedAt: new Date(now).toISOString(),
  jobId: 'job-1',
  callbackHash,
};
const parking = (change: Partial<Surroundings> & Pick<Surroundings, 'providers'>): Surroundings => ({
  mayPark: true,
  callbackBaseUrl: 'https://api.test',
  ...change,
});

describe('a job whose vendor calls back', () => {
  it('The walk parks once the job is in the record, without a poll', async () => {
    const first = callingProvider({}, pending('0 job-1'));
    const { end, saved, log } = walk({}, parking({ providers: [first] }));
    expect(await end).toEqual({ kind: 'parked' });
    expect(first.calls).toEqual(['submit a']);
    expect(saved.map(([attempt]) => [attempt?.jobId, attempt?.callbackHash, attempt?.outcome])).toEqual([
      [undefined, callbackHash, undefined],
      ['0 job-1', callbackHash, undefined],
    ]);
    expect(log.lines).toEqual([]);
  });

  it('The vendor gets an address with provider, creation and capability, and the record has only its hash', async () => {
    const first = callingProvider({}, pending('job-1'));
    const { end, saved } = walk({}, parking({ providers: [first] }));
    await end;
    expect(first.addresses).toEqual([`https://api.test/callbacks/v1/first/${creationId}/${capability}`]);
    expect(JSON.stringify(saved)).not.toContain(capability);
  });

  it('A job that ends at its submission is not parked', async () => {
    const first = callingProvider({}, rendered);
    expect(await walk({}, parking({ providers: [first] })).end).toMatchObject({ kind: 'rendered' });
  });

  it('A job whose id could not be recorded is polled, because its callback would find no job', async () => {
    const first = callingProvider({}, pending('job-1'), rendered);
    const onSave = failsAt(2, new Error('the table is busy'));
    expect(await walk({}, parking({ providers: [first], onSave })).end).toMatchObject({ kind: 'rendered' });
    expect(first.calls).toEqual(['submit a', 'poll job-1']);
  });
});

describe('a job that is polled', () => {
  it.each<[string, Partial<Surroundings>]>([
    ['the execution cannot wait', { mayPark: false }],
    ['the service has no public address', { callbackBaseUrl: undefined }],
    ['less time is left than a heartbeat and its margin', { deadlineAt: now + 64_999 }],
  ])('The vendor gets no address when %s', async (_why, change) => {
    const first = callingProvider({}, pending('job-1'), rendered);
    const { result, saved } = walk(oneRoute, parking({ providers: [first], ...change }));
    await result;
    expect(first.addresses).toEqual([undefined]);
    expect(first.calls).toEqual(['submit a', 'poll job-1']);
    expect(saved[0]?.[0]).not.toHaveProperty('callbackHash');
  });

  it.each<[string, () => Promise<boolean>, string[]]>([
    ['cannot be verified', async () => Promise.resolve(false), []],
    [
      'have keys that cannot be read',
      async () => Promise.reject(new TypeError('details')),
      ['info callbacks_not_ready'],
    ],
  ])('The vendor gets no address when its callbacks %s', async (_why, ready, lines) => {
    const first = callingProvider({ ready }, pending('job-1'), rendered);
    const { result, log } = walk({}, parking({ providers: [first] }));
    await result;
    expect(first.addresses).toEqual([undefined]);
    expect(log.lines).toEqual([...lines, 'info provider_answered']);
    expect(log.text()).not.toContain('details');
  });

  it('A provider that does not call back gets no address', async () => {
    const first = fakeProvider('first', pending('job-1'), rendered);
    const { result, saved } = walk({}, parking({ providers: [first] }));
    await result;
    expect(saved[0]?.[0]).not.toHaveProperty('callbackHash');
  });

  it('A route parks when exactly a heartbeat and its margin are left', async () => {
    const first = callingProvider({}, pending('job-1'));
    const { end } = walk(oneRoute, parking({ providers: [first], deadlineAt: now + 65_000 }));
    expect(await end).toEqual({ kind: 'parked' });
  });
});

describe('a job after a lost callback', () => {
  it('The vendor is asked once, and the job is parked again while the vendor works', async () => {
    const first = callingProvider({}, pending('job-1'));
    const { end, saved } = walk({ attempts: [waiting] }, parking({ providers: [first] }));
    expect(await end).toEqual({ kind: 'parked' });
    expect(first.calls).toEqual(['poll job-1']);
    expect(saved).toEqual([]);
  });

  it('The image is taken when the vendor has it, and the log shows the time since the submission', async () => {
    const first = callingProvider({}, rendered);
    const attempts = [{ ...waiting, startedAt: new Date(now - 61_000).toISOString() }];
    const { end, log } = walk({ attempts }, parking({ providers: [first] }));
    expect(await end).toMatchObject({ kind: 'rendered', attempts: [{ outcome: 'rendered', callbackHash }] });
    expect(log.entries).toMatchObject([['info provider_answered', { millis: 61_000 }]]);
  });

  it('The job is polled to its end when less than a heartbeat and its margin is left of the time of its route', async () => {
    // Two routes share 300 s, of which the first has the first half.
    const attempts = [{ ...waiting, startedAt: new Date(now - 90_000).toISOString() }];
    const first = callingProvider({}, pending('job-1', 700), pending('job-1', 700), rendered);
    const { end, clock } = walk({ attempts }, parking({ providers: [first], deadlineAt: now + 210_000 }));
    expect(await end).toMatchObject({ kind: 'rendered' });
    expect(first.calls).toHaveLength(3);
    expect(clock.sleeps).toEqual([0, 700, 700]);
  });

  it('The next route is tried when the time of the route has passed, counted from its start', async () => {
    const attempts = [{ ...waiting, startedAt: new Date(now - 145_000).toISOString() }];
    const still = Array.from({ length: 6 }, () => pending('job-1', 1_000));
    const second = fakeProvider('second', rendered);
    const { result, clock } = walk(
      { attempts },
      parking({ providers: [callingProvider({}, ...still), second], deadlineAt: now + 155_000 }),
    );
    expect((await result).attempts.map(({ outcome }) => outcome)).toEqual(['no_answer', 'rendered']);
    expect(clock.now()).toBe(now + 5_000);
  });

  it('A job whose route has no time left is polled once more before the next route', async () => {
    const attempts = [{ ...waiting, startedAt: new Date(now - 200_000).toISOString() }];
    const first = callingProvider({}, rendered);
    const { result } = walk({ attempts }, parking({ providers: [first], deadlineAt: now + 100_000 }));
    expect((await result).image.key).toBe('results/begun.png');
  });

  it('A job without a capability in the record is polled to its end, because no callback can come', async () => {
    const { callbackHash: _, ...polled } = waiting;
    const first = callingProvider({}, pending('job-1'), rendered);
    await walk({ attempts: [polled] }, parking({ providers: [first] })).result;
    expect(first.calls).toEqual(['poll job-1', 'poll job-1']);
  });
});
