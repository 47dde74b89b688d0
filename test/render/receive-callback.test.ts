/**
 * ReceiveCallback with a vendor that the tests script: every answer, and what each one writes. The file is long
 * because its tests share one stage.
 */
import { createHash } from 'node:crypto';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import type { TaskOutcome, Tasks } from '../../service/aws/step-functions.ts';
import type { Completion, LeaseOutcome } from '../../service/creations/creation-reads.ts';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import type { CreationRecord, RouteAttempt } from '../../service/creations/creation.ts';
import type { ImageStore } from '../../service/creations/image-store.ts';
import type { CallbackServices } from '../../service/render/open.ts';
import { receiveCallback } from '../../service/render/receive-callback.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { asMicros } from '../../service/values/money.ts';
import { schema } from '../../service/values/runtime.ts';
import type { CallbackVerdict, ProviderAnswer, RenderJob } from '../../service/vendors/provider.ts';
import {
  fakeClock,
  type FakeClock,
  fakeLog,
  type FakeLog,
  fakeProvider,
  pngBytes,
  stub,
} from '../api/fakes.ts';
import { aCreation, creationId, now, seededBytes } from '../fixtures/records.ts';
import { callingProvider, type CallingProvider } from './calling-provider.ts';
import { healthOf, noteNothing, thumbnailParts } from './walk-fixture.ts';

const capability = Buffer.from(seededBytes(32)).toString('base64url');
const rendered: ProviderAnswer = { kind: 'rendered', bytes: pngBytes };
const attempt: RouteAttempt = {
  provider: 'first',
  providerModel: 'a',
  startedAt: new Date(now - 9_000).toISOString(),
  resultKey: 'results/x.png',
  jobId: '0 job-1',
  callbackHash: createHash('sha256').update(capability).digest('hex'),
};
const second: RouteAttempt = {
  provider: 'second',
  providerModel: 'b',
  startedAt: '',
  resultKey: 'results/y.png',
};

interface Setting {
  readonly creation?: Partial<CreationRecord>;
  /** What the lease finds. The default is the creation as it was read. */
  readonly leases?: readonly LeaseOutcome[];
  readonly answers?: readonly (ProviderAnswer | (() => Promise<ProviderAnswer>))[];
  readonly verdict?: CallbackVerdict | Error;
  readonly commit?: Awaited<ReturnType<CreationStore['complete']>>;
  readonly token?: string | undefined;
  readonly end?: TaskOutcome;
  readonly isHeld?: boolean;
  readonly put?: Error;
  readonly read?: Error;
}

interface Stage {
  readonly services: CallbackServices;
  readonly steps: string[];
  readonly completions: Completion[];
  readonly saved: (readonly RouteAttempt[])[];
  readonly provider: CallingProvider;
  readonly clock: FakeClock;
  readonly log: FakeLog;
}

function stage({
  creation: change = {},
  leases = [],
  answers = [rendered],
  verdict = { kind: 'genuine', jobId: 'job-1' },
  commit = 'completed',
  end = 'ended',
  isHeld = true,
  put,
  read,
  ...rest
}: Setting = {}): Stage {
  const token = 'token' in rest ? rest.token : 'token-1';
  const creation = aCreation({ status: 'processing', attempts: [attempt], ...change });
  const [steps, completions, saved]: [string[], Completion[], (readonly RouteAttempt[])[]] = [[], [], []];
  const step = async <Result>(text: string, result: Result | Error): Promise<Result> => {
    steps.push(text);
    return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
  };
  const [clock, log, left] = [fakeClock(), fakeLog(), [...leases]];
  const verify = async (): Promise<CallbackVerdict> =>
    verdict instanceof Error ? Promise.reject(verdict) : Promise.resolve(verdict);
  const provider = callingProvider({ verify }, ...answers);
  const services = stub<CallbackServices>({
    health: noteNothing(),
    ...thumbnailParts,
    clock,
    log,
    schema,
    resultDays: 30,
    providers: new Map([
      ['first', provider],
      ['polled', fakeProvider('polled')],
    ]),
    images: stub<ImageStore>({ put: async () => step('put', put as undefined) }),
    creations: stub<CreationStore>({
      read: async (id) => step('read', read ?? (id === creationId ? creation : undefined)),
      lease: async (_id, holder, _until, _now, taskToken) => {
        expect(taskToken).toBeUndefined();
        return step(`lease ${holder}`, left.shift() ?? { kind: 'leased' as const, creation, turn: 7 });
      },
      renewLease: async (_id, _holder, until) => step(until <= clock.now() ? 'give back' : 'renew', true),
      saveAttempts: async (_id, turn, attempts) => {
        expect(turn).toBe(7);
        saved.push(structuredClone([...attempts]));
        return step('save', isHeld);
      },
      complete: async (_creation, done) => {
        completions.push(done);
        return step('complete', commit);
      },
      taskToken: async () => step('read token', token),
      noteThumbnails: async () => Promise.resolve(true),
    }),
    tasks: stub<Tasks>({
      succeed: async (ended) => step(`succeed ${ended}`, end),
      fail: async (ended, error) => step(`fail ${ended} ${error}`, end),
    }),
  });
  return { services, steps, completions, saved, provider, clock, log };
}

interface Sent {
  readonly provider?: string;
  readonly id?: string;
  readonly capability?: string;
  readonly body?: string;
}

const eventOf = (sent: Sent = {}): APIGatewayProxyEventV2 =>
  ({
    pathParameters: {
      provider: sent.provider ?? 'first',
      creation_id: sent.id ?? creationId,
      capability: sent.capability ?? capability,
    },
    headers: {},
    body: sent.body ?? '{}',
    isBase64Encoded: false,
  }) as unknown as APIGatewayProxyEventV2;

/** The status of the answer and the outcome in the log. */
async function call({ services, log }: Stage, sent: Sent = {}): Promise<readonly [number, unknown]> {
  const answer = await receiveCallback(eventOf(sent), 'request-1', services);
  const status = answer.statusCode ?? 0;
  expect(answer.body).toBe(JSON.stringify({ received: status === 200 }));
  const [line, fields] = log.entries.at(-1) ?? [];
  expect(line).toBe('info callback_received');
  return [status, (fields as { outcome: unknown }).outcome];
}

describe('a genuine callback of a job that has an image', () => {
  it('A first attempt that is not delivered fails the task under its name, and the callback is taken', async () => {
    const due = {
      url: 'https://receiver.test',
      status: 'pending',
      attempts: 1,
      nextAt: now + 60_000,
    } as const;
    const set = stage({ creation: { webhook: due, completedAt: new Date(now).toISOString() } });
    expect(await call(set)).toEqual([200, 'completed']);
    expect(set.steps.slice(-3)).toEqual(['read', 'read token', 'fail token-1 WebhookNotDelivered']);
  });

  it('The vendor is asked, the image is stored and committed, and then the token is read and ended', async () => {
    const set = stage();
    expect(await call(set)).toEqual([200, 'completed']);
    expect(set.provider.calls).toEqual(['poll 0 job-1']);
    expect(set.steps).toEqual([
      'read',
      'lease request-1',
      'put',
      'complete',
      'read token',
      'succeed token-1',
    ]);
    expect(set.completions).toMatchObject([
      {
        results: [{ key: 'results/x.png', width: 64 }],
        resultsExpireAt: now + 30 * 86_400_000,
        attempts: [{ ...attempt, outcome: 'rendered' }],
      },
    ]);
  });

  it('The record has what the answer says that the picture costs, and the vendor gets the price of a unit', async () => {
    const units = { ...attempt, unitMicros: asMicros(5_000) };
    const billed = { ...rendered, billedMicros: asMicros(20_000) };
    const set = stage({ creation: { attempts: [units] } });
    const jobs: RenderJob[] = [];
    Object.assign(set.provider, {
      poll: async (_id: string, job: RenderJob) => {
        jobs.push(job);
        return Promise.resolve(billed);
      },
    });
    expect(await call(set)).toEqual([200, 'completed']);
    expect(jobs).toMatchObject([{ unitMicros: 5_000, saidEnded: true }]);
    expect(set.completions).toMatchObject([{ attempts: [{ outcome: 'rendered', billedMicros: 20_000 }] }]);
  });

  it('The log names creation, provider and outcome, and says how long the vendor took', async () => {
    const set = stage();
    await call(set);
    expect(set.log.entries.map(([line]) => line)).toEqual([
      'info provider_answered',
      'info creation_completed',
      'info callback_received',
    ]);
    expect(set.log.entries[0]?.[1]).toMatchObject({ creationId, outcome: 'rendered', millis: 9_000 });
    expect(set.log.entries[2]?.[1]).toMatchObject({ creationId, provider: 'first', millis: 0 });
    expect(set.log.text()).not.toContain(capability);
  });

  it.each<[string, Setting, readonly [number, string]]>([
    ['was over already', { end: 'settled' }, [200, 'completed']],
    ['has no stored token', { token: undefined }, [200, 'completed']],
    [
      'has perhaps not ended, so that the vendor is to repeat its callback',
      { end: 'unclear' },
      [503, 'task_unclear'],
    ],
  ])('The creation is completed when its task %s', async (_what, setting, answer) => {
    expect(await call(stage(setting))).toEqual(answer);
  });

  it('The image is discarded and the task ended when the creation was refunded meanwhile', async () => {
    const set = stage({ commit: 'already_terminal' });
    expect(await call(set)).toEqual([200, 'late']);
    expect(set.steps).toContain('fail token-1 RouteEnded');
  });

  it.each<[string, Setting]>([
    ['the table is too busy for the commit', { commit: 'busy' }],
    ['the image cannot be stored', { put: new Error('bucket') }],
  ])('The lease is given back and no task is ended when %s', async (_why, setting) => {
    const set = stage(setting);
    expect(await call(set)).toEqual([503, 'busy']);
    expect(set.steps.at(-1)).toBe('give back');
    expect(set.steps.join()).not.toContain('succeed');
  });
});

describe('a genuine callback of a job that has no image', () => {
  it.each<[string, ProviderAnswer, string]>([
    ['the next route may give one', { kind: 'refused', reason: 'unavailable' }, 'unavailable'],
    ['no route would give one', { kind: 'refused', reason: 'prompt' }, 'PromptRejected'],
  ])('The outcome is recorded and the task fails as RouteEnded when %s', async (_why, answer, outcome) => {
    const set = stage({ answers: [answer] });
    expect(await call(set)).toEqual([200, 'route_ended']);
    expect(set.saved).toEqual([[{ ...attempt, outcome, endedAt: new Date(now).toISOString() }]]);
    expect(set.steps.slice(2)).toEqual(['save', 'read token', 'give back', 'fail token-1 RouteEnded']);
  });

  it('The vendor is to repeat its callback when it is unclear whether the task has failed', async () => {
    const answers: ProviderAnswer[] = [{ kind: 'refused', reason: 'unavailable' }];
    expect(await call(stage({ answers, end: 'unclear' }))).toEqual([503, 'task_unclear']);
  });

  it('Nothing is woken when another invocation has taken the lease before the outcome was recorded', async () => {
    const set = stage({ answers: [{ kind: 'refused', reason: 'failed' }], isHeld: false });
    expect(await call(set)).toEqual([503, 'leased']);
    expect(set.steps.join()).not.toContain('fail');
  });
});

describe('a genuine callback that comes too early', () => {
  it.each<[string, readonly (ProviderAnswer | (() => Promise<ProviderAnswer>))[], string[]]>([
    ['says that it still works', [{ kind: 'pending', jobId: 'x', pollAfterMillis: 1 }], []],
    [
      'breaks its answer',
      [async () => Promise.reject(new TypeError('details'))],
      ['alarm provider_call_broke'],
    ],
  ])('The lease is given back when the vendor %s', async (_what, answers, lines) => {
    const set = stage({ answers });
    expect(await call(set)).toEqual([503, 'pending']);
    expect(set.steps).toEqual(['read', 'lease request-1', 'give back']);
    expect(set.log.lines.slice(0, -1)).toEqual(lines);
  });

  it('A vendor that does not answer within 20 s is not waited for', async () => {
    const clocks: FakeClock[] = [];
    const hang = async (): Promise<ProviderAnswer> => {
      for (const clock of clocks) clock.set(now + 20_000);
      return Promise.reject(new Error('aborted'));
    };
    const set = stage({ answers: [hang] });
    clocks.push(set.clock);
    expect(await call(set)).toEqual([503, 'pending']);
    expect(set.log.lines).toEqual(['info callback_received']);
    expect(set.clock.held).toBe(0);
  });
});

describe('a genuine callback for a creation of a newer release', () => {
  it.each(['processing', 'completed'] as const)(
    'The creation that is %s is left alone, and the vendor is to repeat its callback',
    async (status) => {
      const set = stage({ creation: { status, v: schema.newestKnown + 1 } });
      expect(await call(set)).toEqual([503, 'newer_release']);
      expect(set.steps).toEqual(['read']);
      expect(set.provider.calls).toEqual([]);
    },
  );
});

describe('a genuine callback while another invocation has the lease', () => {
  const busy: LeaseOutcome = { kind: 'leased_by_another' };

  it('The lease is asked for every 200 ms until it is free', async () => {
    const set = stage({ leases: [busy, busy, busy] });
    expect(await call(set)).toEqual([200, 'completed']);
    expect(set.clock.sleeps).toEqual([200, 200, 200]);
  });

  it('The vendor is to repeat its callback when the lease is not free within 3 s', async () => {
    const set = stage({ leases: Array.from({ length: 99 }, () => busy) });
    expect(await call(set)).toEqual([503, 'leased']);
    expect(set.clock.now()).toBe(now + 3_000);
    expect(set.provider.calls).toEqual([]);
  });
});

describe('a genuine callback that comes late', () => {
  it.each(['completed', 'failed'] as const)(
    'The callback of a creation that is %s ends its task and asks no vendor',
    async (status) => {
      const set = stage({ creation: { status } });
      expect(await call(set)).toEqual([200, 'late']);
      expect(set.steps).toEqual(['read', 'read token', 'fail token-1 RouteEnded']);
      expect(set.provider.calls).toEqual([]);
    },
  );

  it('The callback of a creation that was completed before the lease ends its task', async () => {
    const set = stage({ leases: [{ kind: 'terminal' }] });
    expect(await call(set)).toEqual([200, 'late']);
    expect(set.steps.slice(1)).toEqual(['lease request-1', 'read token', 'fail token-1 RouteEnded']);
  });

  it('A job without an id in the record is late once the creation is terminal', async () => {
    const { jobId: _, ...unnoted } = attempt;
    expect(await call(stage({ creation: { status: 'failed', attempts: [unnoted] } }))).toEqual([200, 'late']);
  });

  it('The task is not woken for a job that the walk over the routes has left behind', async () => {
    const left = { ...attempt, outcome: 'no_answer' } as const;
    const set = stage({ creation: { attempts: [left, second] } });
    expect(await call(set)).toEqual([200, 'late']);
    expect(set.steps).toEqual(['read', 'lease request-1', 'give back']);
    expect(set.provider.calls).toEqual([]);
  });

  it('The task is woken when the callback before this one died behind the record of the outcome', async () => {
    const set = stage({ creation: { attempts: [{ ...attempt, outcome: 'unavailable' }] } });
    expect(await call(set)).toEqual([200, 'late']);
    expect(set.steps.slice(2)).toEqual(['read token', 'give back', 'fail token-1 RouteEnded']);
    expect(set.provider.calls).toEqual([]);
  });
});

describe('a callback that is not ours', () => {
  const other = Buffer.from(seededBytes(33)).subarray(1).toString('base64url');

  it.each<[string, Sent]>([
    ['of a provider that nobody knows', { provider: 'constructor' }],
    ['of a provider that does not call back', { provider: 'polled' }],
    ['with no id of a creation', { id: '../x' }],
    ['of a creation that does not exist', { id: creationId.replace('a', 'b') }],
    ['with another capability', { capability: other }],
    ['with a capability of another form', { capability: `${capability}=` }],
    ['with an empty capability', { capability: '' }],
  ])('A callback %s is answered with 404, and nothing is done', async (_what, sent) => {
    const set = stage();
    expect(await call(set, sent)).toEqual([404, 'unknown']);
    expect(set.steps.filter((step) => step !== 'read')).toEqual([]);
  });

  it('The capability of one provider does not open the attempt of another, nor an attempt without an address', async () => {
    const { callbackHash: _, ...polled } = attempt;
    for (const one of [{ ...attempt, provider: 'polled' }, polled])
      expect(await call(stage({ creation: { attempts: [one] } }))).toEqual([404, 'unknown']);
  });

  it('A callback that the vendor did not sign is refused with 401 and an alarm that says why', async () => {
    const set = stage({ verdict: { kind: 'refused', why: 'wrong signature' } });
    expect(await call(set)).toEqual([401, 'refused']);
    expect(set.log.entries[0]).toEqual([
      'alarm callback_refused',
      expect.objectContaining({ provider: 'first', why: 'wrong signature', creationId }),
    ]);
    expect(set.steps).toEqual(['read']);
  });

  it('A genuine callback of another job is answered with 404', async () => {
    const set = stage({ verdict: { kind: 'genuine', jobId: 'job-2' } });
    expect(await call(set)).toEqual([404, 'other_job']);
    expect(set.steps).toEqual(['read']);
  });

  it('A body of more than 256 KiB is refused before its signature is checked', async () => {
    const set = stage({ verdict: new Error('looked at') });
    expect(await call(set, { body: 'x'.repeat(256 * 1024 + 1) })).toEqual([413, 'too_large']);
  });
});

describe('a callback that cannot be judged now', () => {
  it.each<[string, Setting, string]>([
    ['its keys cannot be read', { verdict: { kind: 'unverifiable' } }, 'unverifiable'],
    ['the table is busy', { read: new Overloaded('busy') }, 'busy'],
  ])('The vendor is to repeat its callback when %s', async (_why, setting, outcome) => {
    expect(await call(stage(setting))).toEqual([503, outcome]);
  });

  it.each<[string, Setting]>([
    ['before the creation is known', { read: new TypeError('x') }],
    ['behind the creation', { verdict: new TypeError('x') }],
  ])('A defect %s is an alarm, and the vendor is to repeat its callback', async (_where, setting) => {
    const set = stage(setting);
    expect(await call(set)).toEqual([503, 'broke']);
    expect(set.log.lines).toEqual(['alarm request_failed', 'info callback_received']);
  });
});

describe('the health of the route whose vendor called', () => {
  it('An image is noted with the time since the attempt began', async () => {
    const health = healthOf({});
    const staged = stage();
    const services = { ...staged.services, health, clock: staged.clock };
    staged.clock.set(Date.parse(attempt.startedAt) + 9_000);
    expect((await receiveCallback(eventOf(), 'me', services)).statusCode).toBe(200);
    expect(health.notes).toEqual([['first#a#', { sign: 'rendered', weight: 1, millis: 9_000 }]]);
  });
});
