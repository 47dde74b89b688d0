import { describe, expect, it } from 'vitest';
import type { TaskOutcome, Tasks } from '../../service/aws/step-functions.ts';
import type { LeaseOutcome } from '../../service/creations/creation-reads.ts';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import type { CreationRecord } from '../../service/creations/creation.ts';
import type { ImageStore } from '../../service/creations/image-store.ts';
import type { RenderServices } from '../../service/render/open.ts';
import { renderImage } from '../../service/render/render-image.ts';
import { schema } from '../../service/values/runtime.ts';
import type { ImageProvider } from '../../service/vendors/provider.ts';
import { fakeLog, type FakeLog, fakeProvider, pngBytes, stub, failureOf } from '../api/fakes.ts';
import { aCreation, creationId, now } from '../fixtures/records.ts';
import { callingProvider } from './calling-provider.ts';
import { renderServices } from './walk-fixture.ts';

const payload = { creation_id: creationId, task_token: 'token-2' };
const rendered = { kind: 'rendered', bytes: pngBytes } as const;
const pending = { kind: 'pending', jobId: 'job-1', pollAfterMillis: 500 } as const;

interface Setting {
  readonly provider?: ImageProvider;
  readonly lease?: LeaseOutcome;
  /** The creation as it is read after its end. Absent: nobody is notified. */
  readonly ended?: CreationRecord;
  readonly end?: TaskOutcome;
  readonly commit?: Awaited<ReturnType<CreationStore['complete']>>;
}

function stage({
  provider = fakeProvider('first', rendered),
  lease = {
    kind: 'leased',
    // Its account gets notices, so thresholds are checked after its end.
    creation: aCreation({ routes: [{ provider: 'first', providerModel: 'a' }], isWatched: true }),
    turn: 1,
  },
  ended,
  end = 'ended',
  commit = 'completed',
}: Setting = {}): { services: RenderServices; steps: string[]; log: FakeLog } {
  const steps: string[] = [];
  const log = fakeLog();
  const step = async <Result>(text: string, result: Result): Promise<Result> => {
    steps.push(text);
    return Promise.resolve(result);
  };
  const services = renderServices({
    log,
    callbackBaseUrl: 'https://api.test',
    providers: new Map([[provider.name, provider]]),
    images: stub<ImageStore>({ put: async () => step('put', undefined) }),
    creations: stub<CreationStore>({
      lease: async (_id, _holder, _until, _now, token) => step(`lease ${token ?? 'no token'}`, lease),
      renewLease: async (_id, _holder, until) => step(`renew ${until - now}`, true),
      saveAttempts: async () => step('save', true),
      noteThumbnails: async () => Promise.resolve(true),
      complete: async () => step('complete', commit),
      read: async () => step('read', ended),
    }),
    tasks: stub<Tasks>({ succeed: async (token, id) => step(`succeed ${token} ${id}`, end) }),
  });
  return { services, steps, log };
}

describe('RenderImage with a task token', () => {
  it('The token is written with the lease, and the task ends after the commit and the webhook', async () => {
    const { services, steps } = stage();
    await renderImage(payload, 'request-1', services);
    expect(steps).toEqual([
      'lease token-2',
      'save',
      'put',
      'complete',
      'read',
      `succeed token-2 ${creationId}`,
    ]);
  });

  it.each(['terminal', 'absent'] as const)(
    'The own token is ended when the creation is %s, because its end may have come before the token',
    async (kind) => {
      const { services, steps } = stage({ lease: { kind } });
      await renderImage(payload, 'request-1', services);
      expect(steps).toEqual(['lease token-2', 'read', `succeed token-2 ${creationId}`]);
    },
  );

  it('The token is ended also when the creation was refunded while it was rendered', async () => {
    const { services, steps } = stage({ commit: 'already_terminal' });
    await renderImage(payload, 'request-1', services);
    expect(steps.at(-1)).toBe(`succeed token-2 ${creationId}`);
  });

  it('A parked creation keeps its task, and its lease is given back', async () => {
    const { services, steps, log } = stage({ provider: callingProvider({}, pending) });
    expect(await renderImage(payload, 'request-1', services)).toEqual(payload);
    expect(steps).toEqual(['lease token-2', 'save', 'save', 'renew 0']);
    expect(log.lines).toEqual(['info creation_parked']);
  });

  it('A failure is thrown and does not end the task, because Step Functions fails the task by itself', async () => {
    const provider = fakeProvider('first', { kind: 'refused', reason: 'prompt' });
    const { services, steps } = stage({ provider });
    expect(await failureOf(renderImage(payload, 'request-1', services))).toBe('PromptRejected');
    expect(steps).toEqual(['lease token-2', 'save', 'save']);
  });

  it.each<[string, Setting, TaskOutcome]>([
    ['the commit', {}, 'settled'],
    ['the commit', {}, 'unclear'],
    ['the look at a creation that is terminal', { lease: { kind: 'terminal' } }, 'unclear'],
  ])(
    'RenderImage notes after %s that its task has not ended now, and leaves the rest to the heartbeat',
    async (_after, setting, end) => {
      const { services, log } = stage({ ...setting, end });
      expect(await renderImage(payload, 'request-1', services)).toEqual(payload);
      const outcome = end;
      expect(log.entries.at(-1)).toMatchObject(['info task_not_answered', { creationId, outcome }]);
    },
  );

  it.each<[string, Setting, string]>([
    ['another invocation has the lease', { lease: { kind: 'leased_by_another' } }, 'StillRunning'],
    ['the table is too busy', { commit: 'busy' }, 'CommitBusy'],
  ])('RenderImage ends no task when %s: its error does', async (_why, setting, name) => {
    const { services, steps } = stage(setting);
    expect(await failureOf(renderImage(payload, 'request-1', services))).toBe(name);
    expect(steps.join()).not.toContain('succeed');
  });

  it.each<[string, Setting]>([
    ['the commit', {}],
    ['a death of the renderer that committed', { lease: { kind: 'terminal' } }],
    ['the end of the creation by another', { commit: 'already_terminal' }],
  ])('A webhook that is due later after %s fails the task under its name', async (_after, setting) => {
    const ended = aCreation({
      status: 'completed',
      completedAt: new Date(now).toISOString(),
      webhook: { url: 'https://receiver.test', status: 'pending', attempts: 1, nextAt: now + 60_000 },
    });
    const { services, steps } = stage({ ...setting, ended });
    expect(await failureOf(renderImage(payload, 'request-1', services))).toBe('WebhookNotDelivered');
    expect(steps.at(-1)).toBe('read');
  });

  it('A creation without a webhook and without thresholds is not read again after the commit', async () => {
    const { webhook: _webhook, ...creation } = aCreation({
      routes: [{ provider: 'first', providerModel: 'a' }],
    });
    const { services, steps } = stage({ lease: { kind: 'leased', creation, turn: 1 } });
    await renderImage(payload, 'request-1', services);
    expect(steps.slice(-2)).toEqual(['complete', `succeed token-2 ${creationId}`]);
  });
});

describe('RenderImage of an execution of a newer release', () => {
  const v = schema.newestKnown + 1;

  it.each([
    ['The version in the payload', { creation_id: creationId, v }],
    ['The version in the input, beside a task token', { ...payload, input: { v } }],
  ])('%s is enough: the lease is not asked for', async (_where, newer) => {
    const { services, steps } = stage();
    expect(await failureOf(renderImage(newer, 'request-1', services))).toBe('NewerRelease');
    expect(steps).toEqual([]);
  });

  it('The version in the record is enough: no vendor is asked', async () => {
    const creation = aCreation({ v });
    const { services, steps } = stage({ lease: { kind: 'leased', creation, turn: 7 } });
    expect(await failureOf(renderImage({ ...payload, input: {} }, 'request-1', services))).toBe(
      'NewerRelease',
    );
    expect(steps).toEqual(['lease token-2']);
  });
});

describe('RenderImage without a task token', () => {
  it('No token is read, no task is ended and no job is parked', async () => {
    const provider = callingProvider({}, pending, rendered);
    const { services, steps } = stage({ provider });
    await renderImage({ creation_id: creationId }, 'request-1', services);
    expect(provider.addresses).toEqual([undefined]);
    expect(steps).toEqual(['lease no token', 'save', 'save', 'put', 'complete', 'read']);
  });
});
