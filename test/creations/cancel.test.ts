import { describe, expect, it } from 'vitest';
import type { Tasks } from '../../service/aws/step-functions.ts';
import { cancelCreation, type CancelServices, stopMillis } from '../../service/creations/cancel.ts';
import type { ChargeStore } from '../../service/creations/charge-store.ts';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import type { CreationRecord, RouteAttempt } from '../../service/creations/creation.ts';
import { schema } from '../../service/values/runtime.ts';
import type { CancelAnswer, ImageProvider, ProviderAnswer } from '../../service/vendors/provider.ts';
import { fakeClock, fakeLog, type FakeLog, pngBytes, rejection, stub } from '../api/fakes.ts';
import { aCreation, creationId, now } from '../fixtures/records.ts';

const ids = { creationId };
const at = new Date(now).toISOString();
const running: RouteAttempt = {
  provider: 'fal',
  providerModel: 'a',
  startedAt: at,
  resultKey: 'results/a.png',
  jobId: 'job-1',
};
const pending: ProviderAnswer = { kind: 'pending', jobId: 'job-1', pollAfterMillis: 500 };
const stopped: ProviderAnswer = { kind: 'refused', reason: 'cancelled' };
const rendered: ProviderAnswer = { kind: 'rendered', bytes: pngBytes };

interface Setting {
  /** The record at each read. The last one stays. */
  readonly records: readonly Partial<CreationRecord>[];
  readonly cancel?: CancelAnswer | Error;
  /** The vendor's answer to each poll of the job. The last answer stays. */
  readonly polls?: readonly (ProviderAnswer | Error)[];
  readonly ends?: readonly ('cancelled' | 'moved_on' | 'busy')[];
  readonly isNoted?: boolean;
  readonly isWithdrawn?: boolean;
  readonly provider?: Partial<ImageProvider>;
  readonly token?: string;
}

interface Staged {
  readonly creation: CreationRecord;
  readonly services: CancelServices;
  readonly steps: string[];
  readonly stored: (readonly RouteAttempt[])[];
  readonly log: FakeLog;
}

function stage(setting: Setting): Staged {
  const { cancel = 'asked', polls = [stopped], ends = ['cancelled'] } = setting;
  const steps: string[] = [];
  const stored: (readonly RouteAttempt[])[] = [];
  const log = fakeLog();
  const records = setting.records.map((change) => aCreation(change));
  const left = { records: [...records], polls: [...polls], ends: [...ends] };
  const next = <Value>(values: Value[]): Value => {
    const [value] = values.length > 1 ? values.splice(0, 1) : values;
    if (value === undefined) throw new Error('nothing is left');
    return value;
  };
  const step = async <Value>(name: string, value: Value | Error): Promise<Value> => {
    steps.push(name);
    return value instanceof Error ? Promise.reject(value) : Promise.resolve(value);
  };
  const provider: ImageProvider = {
    name: 'fal',
    submit: async () => Promise.reject(new Error('no job is submitted')),
    cancel: async () => step('ask', cancel),
    poll: async () => step('look', next(left.polls)),
    ...setting.provider,
  };
  const creation = next(left.records);
  const services: CancelServices = {
    clock: fakeClock(),
    log,
    schema,
    providers: new Map([['fal', provider]]),
    creations: stub<CreationStore>({
      read: async () => step('read', next(left.records)),
      noteCancel: async () => step('note', setting.isNoted ?? true),
      withdrawCancel: async () => step('withdraw', setting.isWithdrawn ?? true),
      taskToken: async () => step('token', setting.token),
    }),
    charges: stub<ChargeStore>({
      cancel: async (_creation, { attempts }) => {
        stored.push(attempts);
        return step('end', next(left.ends));
      },
    }),
    tasks: stub<Tasks>({ fail: async (token, error) => step(`fail ${token} ${error}`, 'ended' as const) }),
  };
  return { creation, services, steps, stored, log };
}

async function kindOf({ creation, services }: Staged): Promise<string> {
  return (await cancelCreation(creation, ids, services)).kind;
}

const over: Partial<CreationRecord> = { status: 'failed', cancelledAt: at };
const processing: Partial<CreationRecord> = { status: 'processing', attempts: [running] };

describe('a cancel before anything was sent', () => {
  it.each(['queued', 'processing'] as const)('A creation that is %s ends at once', async (status) => {
    const staged = stage({ records: [{ status }, over] });
    expect(await kindOf(staged)).toBe('cancelled');
    expect(staged.steps).toEqual(['end', 'token', 'read']);
    expect(staged.stored).toEqual([[]]);
    expect(staged.log.entries).toEqual([
      ['info creation_failed', { ...ids, failure: 'Cancelled', refundedMicros: 40_000 }],
    ]);
  });

  it('The renderer of the task that waits is woken after the commit', async () => {
    const staged = stage({ records: [{}, over], token: 'token-1' });
    await kindOf(staged);
    expect(staged.steps).toEqual(['end', 'token', 'fail token-1 RouteEnded', 'read']);
  });

  it('An attempt that begins first wins, and its vendor is asked', async () => {
    const staged = stage({ records: [{}, processing, over], ends: ['moved_on', 'cancelled'] });
    expect(await kindOf(staged)).toBe('cancelled');
    expect(staged.steps).toEqual(['end', 'read', 'note', 'ask', 'look', 'end', 'token', 'read']);
  });

  it('A busy table is no verdict', async () => {
    const staged = stage({ records: [{}], ends: ['busy'] });
    expect(await rejection(kindOf(staged))).toMatchObject({ name: 'Overloaded' });
    expect(staged.log.lines).toEqual([]);
  });
});

describe('a cancel of a creation that has ended', () => {
  it('A cancelled creation is answered as cancelled again, and nothing is written', async () => {
    const staged = stage({ records: [over] });
    expect(await kindOf(staged)).toBe('cancelled');
    expect(staged.steps).toEqual([]);
  });

  it.each(['completed', 'failed'] as const)('A creation that is %s is not cancellable', async (status) => {
    const staged = stage({ records: [{ status }] });
    expect(await kindOf(staged)).toBe('not_cancellable');
    expect(staged.steps).toEqual([]);
  });

  it('A record of a newer release is left alone', async () => {
    const staged = stage({ records: [{ v: 99 }] });
    expect(await kindOf(staged)).toBe('not_cancellable');
    expect(staged.steps).toEqual([]);
  });
});

describe('a cancel while a vendor works', () => {
  it('The creation ends when a poll of the job says that it was stopped, and the attempt has its end', async () => {
    const staged = stage({ records: [processing, over], polls: [pending, stopped] });
    expect(await kindOf(staged)).toBe('cancelled');
    expect(staged.steps).toEqual(['note', 'ask', 'look', 'look', 'end', 'token', 'read']);
    expect(staged.stored).toEqual([
      [{ ...running, endedAt: new Date(now + 500).toISOString(), outcome: 'cancelled' }],
    ]);
  });

  it('A vendor that only noted the request has not confirmed it, so the note is taken back', async () => {
    const staged = stage({ records: [processing], polls: [pending] });
    expect(await kindOf(staged)).toBe('not_cancellable');
    expect(staged.steps.filter((step) => step === 'look')).toHaveLength(stopMillis / 500);
    expect(staged.steps.slice(-2)).toEqual(['withdraw', 'read']);
    expect(staged.stored).toEqual([]);
  });

  it('A request whose answer was lost may have reached the vendor, so the job is polled', async () => {
    const staged = stage({ records: [processing, over], cancel: new Error('lost') });
    expect(await kindOf(staged)).toBe('cancelled');
    expect(staged.log.entries[0]).toEqual(['info job_not_cancelled', { provider: 'fal', error: 'Error' }]);
  });

  it.each<[string, Pick<Setting, 'cancel' | 'polls'>]>([
    ['refuses the request', { cancel: 'refused' }],
    ['has rendered the image', { polls: [rendered] }],
    ['has refused the prompt', { polls: [{ kind: 'refused', reason: 'prompt' }] }],
    ['breaks the look at the job', { polls: [new Error('broken')] }],
  ])('A creation whose vendor %s goes on', async (_what, how) => {
    const staged = stage({ records: [processing], ...how });
    expect(await kindOf(staged)).toBe('not_cancellable');
    expect(staged.stored).toEqual([]);
    expect(staged.steps.slice(-2)).toEqual(['withdraw', 'read']);
  });

  it.each<[string, Partial<RouteAttempt>, Partial<ImageProvider>]>([
    ['a call whose job is not known', { jobId: undefined }, {}],
    ['a vendor that cannot stop a job', {}, { cancel: undefined }],
    ['a vendor that nobody knows', { provider: 'bfl' }, {}],
    ['a route that has ended', { outcome: 'unavailable' }, {}],
  ] as [string, Partial<RouteAttempt>, Partial<ImageProvider>][])(
    'A creation with %s is not cancellable, and nothing is asked or noted',
    async (_what, change, provider) => {
      const attempts = [{ ...running, ...change } as RouteAttempt];
      const staged = stage({ records: [{ status: 'processing', attempts }], provider });
      expect(await kindOf(staged)).toBe('not_cancellable');
      expect(staged.steps).toEqual(['read']);
    },
  );

  it('A creation that completes during the request is answered as completed', async () => {
    const staged = stage({ records: [processing, { status: 'completed' }], ends: ['moved_on'] });
    const { kind, creation } = await cancelCreation(staged.creation, ids, staged.services);
    expect([kind, creation.status]).toEqual(['not_cancellable', 'completed']);
  });

  it('A stop that the renderer saw first is taken from the record, and the vendor is not asked again', async () => {
    const seen = { ...running, outcome: 'cancelled' } as const;
    const staged = stage({
      records: [processing, { status: 'processing', attempts: [seen] }, over],
      polls: [stopped],
      ends: ['moved_on', 'cancelled'],
    });
    expect(await kindOf(staged)).toBe('cancelled');
    expect(staged.steps.filter((step) => step === 'ask')).toHaveLength(1);
    expect(staged.stored.at(-1)).toEqual([seen]);
  });

  it('A creation that another cancel ended while this one gave up is cancelled', async () => {
    const staged = stage({ records: [processing, over], polls: [pending], isWithdrawn: false });
    expect(await kindOf(staged)).toBe('cancelled');
  });

  it('A record that changes again and again is no verdict', async () => {
    const staged = stage({ records: [processing], isNoted: true, isWithdrawn: false, polls: [pending] });
    expect(await rejection(kindOf(staged))).toMatchObject({ name: 'Overloaded' });
    expect(staged.steps.filter((step) => step === 'withdraw')).toHaveLength(5);
  });
});
