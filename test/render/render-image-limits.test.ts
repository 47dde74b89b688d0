/** How long each step of RenderImage may take, and what the step stores and logs. */
import { describe, expect, it } from 'vitest';
import type { Completion } from '../../service/creations/creation-reads.ts';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import type { CreationRecord, StoredImage } from '../../service/creations/creation.ts';
import type { ImageStore } from '../../service/creations/image-store.ts';
import { renderImage } from '../../service/render/render-image.ts';
import { Overloaded } from '../../service/values/errors.ts';
import type { ImageProvider } from '../../service/vendors/provider.ts';
import {
  fakeClock,
  type FakeClock,
  fakeLog,
  type FakeLog,
  pngBytes,
  rejection,
  stub,
  failureOf,
} from '../api/fakes.ts';
import { accountId, aCreation, creationId, now, seededBytes } from '../fixtures/records.ts';
import { renderServices } from './walk-fixture.ts';

const payload = { creation_id: creationId };
const ids = { creationId, accountId, executionId: `${creationId}-2` };

interface Setting {
  readonly creation?: Partial<CreationRecord>;
  /** What the provider does instead of giving an image. */
  readonly submit?: ImageProvider['submit'];
  readonly put?: ImageStore['put'];
  readonly creations?: Partial<CreationStore>;
  readonly resultDays?: number;
}

interface Stage {
  readonly result: Promise<unknown>;
  readonly clock: FakeClock;
  readonly log: FakeLog;
  readonly completions: readonly Completion[];
  readonly puts: readonly (readonly [StoredImage, Uint8Array])[];
  /** Milliseconds since the begin at which each deadline of a route lay. */
  readonly deadlines: readonly number[];
  /** Milliseconds since the begin at which the lease was renewed, and until when. */
  readonly renewals: readonly (readonly [at: number, until: number])[];
  /** Sets the clock so many milliseconds after the begin, and runs the renewal of the lease once. */
  readonly tickAt: (millis: number) => void;
  readonly isRenewing: () => boolean;
}

function render({ creation = {}, submit, put, creations, resultDays = 30 }: Setting): Stage {
  const clock = fakeClock();
  const log = fakeLog();
  const completions: Completion[] = [];
  const puts: [StoredImage, Uint8Array][] = [];
  const deadlines: number[] = [];
  const renewals: [number, number][] = [];
  let task: (() => void) | undefined;
  const services = renderServices({
    clock: {
      ...clock,
      deadline: (at) => {
        deadlines.push(at - now);
        return clock.deadline(at);
      },
      every: (millis, work) => {
        expect(millis).toBe(2_400);
        task = work;
        return () => (task = undefined);
      },
    },
    log,
    resultDays,
    creations: stub<CreationStore>({
      read: async () => Promise.resolve(undefined),
      lease: async () =>
        Promise.resolve({ kind: 'leased', creation: aCreation({ executions: 2, ...creation }), turn: 7 }),
      renewLease: async (_id, _holder, until) => {
        renewals.push([clock.now() - now, until - now]);
        return Promise.resolve(true);
      },
      saveAttempts: async () => Promise.resolve(true),
      noteThumbnails: async () => Promise.resolve(true),
      complete: async (_creation, done) => {
        completions.push(done);
        return Promise.resolve('completed');
      },
      ...creations,
    }),
    images: stub<ImageStore>({
      put: async (image, bytes) => {
        puts.push([image, bytes]);
        await put?.(image, bytes);
      },
    }),
    providers: new Map([
      [
        'sandbox',
        {
          name: 'sandbox',
          submit: submit ?? (async () => Promise.resolve({ kind: 'rendered', bytes: pngBytes })),
        },
      ],
    ]),
  });
  return {
    result: renderImage(payload, 'request-1', services),
    clock,
    log,
    completions,
    puts,
    deadlines,
    renewals,
    tickAt: (millis) => {
      clock.set(now + millis);
      task?.();
    },
    isRenewing: () => task !== undefined,
  };
}

const hanging = async (): Promise<never> => new Promise(() => undefined);
const settled = async (): Promise<void> => new Promise(setImmediate);

describe("the time of a creation's only route", () => {
  it.each([
    [300_000, 298_000],
    [8_000, 6_000],
    [7_996, 5_997],
    [4_000, 3_000],
  ])('A creation of %i ms leaves the route %i ms', async (total, millis) => {
    const { result, deadlines } = render({ creation: { deadlineAt: now + total } });
    await result;
    expect(deadlines).toEqual([millis]);
  });
});

describe('the renewals of the lease', () => {
  it("The renewals go on until 20 s after the end of the providers' time", async () => {
    const { tickAt, renewals, log } = render({ submit: hanging });
    await settled();
    tickAt(318_000);
    expect(renewals).toEqual([[318_000, 324_000]]);
    tickAt(318_001);
    expect(renewals).toHaveLength(1);
    expect(log.entries.at(-1)).toEqual(['info lease_let_go', { ...ids, step: 'ask_providers' }]);
  });

  it("The renewals go on for 20 s when the providers' time is already over", async () => {
    const { tickAt, renewals } = render({
      creation: { deadlineAt: now - 100_000 },
      creations: { saveAttempts: hanging },
    });
    await settled();
    tickAt(20_000);
    tickAt(20_001);
    expect(renewals).toEqual([[20_000, 26_000]]);
  });

  it.each<[string, number, Setting, string]>([
    ['the image is stored', 60, { put: hanging }, 'store_image'],
    ['the creation is completed', 30, { creations: { complete: hanging } }, 'complete_creation'],
  ])('While %s, the renewals go on for %i s', async (_while, seconds, setting, step) => {
    const { tickAt, renewals, log } = render(setting);
    const millis = seconds * 1_000;
    await settled();
    tickAt(millis);
    tickAt(millis + 1);
    expect(renewals).toEqual([[millis, millis + 6_000]]);
    expect(log.entries.at(-1)).toEqual(['info lease_let_go', { ...ids, step }]);
  });

  it.each<[string, Setting]>([
    ['is completed', {}],
    ['failed', { submit: async () => Promise.resolve({ kind: 'refused', reason: 'prompt' }) }],
  ])('The renewals end when the creation %s', async (_how, setting) => {
    const { result, isRenewing, clock } = render(setting);
    await result.catch(() => undefined);
    expect([isRenewing(), clock.held]).toEqual([false, 0]);
  });

  it('The renewals end when the table is too busy, and the lease is given back', async () => {
    const { result, isRenewing, renewals } = render({
      creations: { complete: async () => Promise.resolve('busy') },
    });
    expect(await rejection(result)).toEqual({
      name: 'CommitBusy',
      message: 'the table was too busy to go on',
    });
    expect([isRenewing(), renewals]).toEqual([false, [[0, 0]]]);
  });

  it('The table has taken the end of the lease before the invocation ends', async () => {
    const taken = Promise.withResolvers<boolean>();
    const { result } = render({
      creations: { complete: async () => Promise.resolve('busy'), renewLease: async () => taken.promise },
    });
    let hasEnded = false;
    const ending = rejection(result).finally(() => (hasEnded = true));
    await settled();
    expect(hasEnded).toBe(false);
    taken.resolve(true);
    expect(await ending).toMatchObject({ name: 'CommitBusy' });
  });

  it('The lease is not given back when the creation failed for another reason', async () => {
    const { result, renewals } = render({
      creations: { complete: async () => Promise.reject(new TypeError('details')) },
    });
    expect(await rejection(result)).toEqual({ name: 'TypeError', message: 'details' });
    expect(renewals).toEqual([]);
  });
});

describe('the completion of a creation', () => {
  it('The completion holds the image, its expiry, the attempts and the time, and is logged', async () => {
    const { result, clock, completions, puts, log } = render({
      resultDays: 7,
      submit: async () => {
        clock.set(now + 4_321);
        return Promise.resolve({ kind: 'rendered', bytes: pngBytes });
      },
    });
    expect(await result).toEqual(payload);
    const image = {
      key: `results/${Buffer.from(seededBytes(24)).toString('base64url')}.png`,
      contentType: 'image/png',
      width: 64,
      height: 64,
      bytes: pngBytes.byteLength,
      contentCredentials: 'absent',
    };
    expect(puts).toEqual([[image, pngBytes]]);
    expect(completions).toEqual([
      {
        results: [image],
        resultsExpireAt: now + 4_321 + 7 * 86_400_000,
        attempts: [
          {
            provider: 'sandbox',
            providerModel: 'standard',
            startedAt: '2026-11-21T12:00:30.000Z',
            endedAt: '2026-11-21T12:00:34.321Z',
            resultKey: image.key,
            outcome: 'rendered',
          },
        ],
        nowMillis: now + 4_321,
      },
    ]);
    expect(log.entries).toEqual([
      [
        'info provider_answered',
        { ...ids, provider: 'sandbox', providerModel: 'standard', outcome: 'rendered', millis: 4_321 },
      ],
      ['info creation_completed', { ...ids, millis: 4_321 }],
    ]);
  });

  it('An invocation that finds the table too busy for a lease ends as CommitBusy', async () => {
    const creations = { lease: async () => Promise.reject(new Overloaded('busy')) };
    expect(await failureOf(render({ creations }).result)).toBe('CommitBusy');
  });
});
