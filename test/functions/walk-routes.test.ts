import { describe, expect, it } from 'vitest';
import type { CreationRecord, RouteAttempt, StoredImage } from '../../core/creation.ts';
import { failureNames, type FailureName } from '../../core/failure.ts';
import type { ImageStore } from '../../core/ports/images.ts';
import type { ImageProvider, ProviderAnswer, RefusalReason } from '../../core/provider.ts';
import { Remedy } from '../../functions/workflow/payload.ts';
import { walkRoutes, type Rendering } from '../../functions/workflow/walk-routes.ts';
import type { RenderServices } from '../../functions/services.ts';
import { aCreation, now, seededBytes } from '../fixtures/records.ts';
import { fakeClock, fakeLog, fakeProvider, pngBytes, rejection, stub, type FakeClock, type FakeLog } from './fakes.ts';

const rendered: ProviderAnswer = { kind: 'rendered', bytes: pngBytes };
const refused = (reason: RefusalReason): ProviderAnswer => ({ kind: 'refused', reason });
const pending = (jobId: string, pollAfterMillis = 500): ProviderAnswer => ({ kind: 'pending', jobId, pollAfterMillis });

const bothRoutes = {
  routes: [
    { provider: 'first', providerModel: 'a' },
    { provider: 'second', providerModel: 'b' },
  ],
};
const begun: RouteAttempt = { provider: 'first', providerModel: 'a', startedAt: '2026-11-21T12:00:30.000Z', resultKey: 'results/begun.png' };

interface Walked {
  readonly result: Promise<Rendering>;
  readonly saved: RouteAttempt[][];
  readonly log: FakeLog;
  readonly clock: FakeClock;
}

interface Surroundings {
  readonly providers: readonly ImageProvider[];
  readonly stored?: readonly StoredImage[];
  readonly deadlineAt?: number;
  readonly onSave?: () => void;
}

function walk(change: Partial<CreationRecord>, { providers, stored = [], deadlineAt = now + 300_000, onSave }: Surroundings): Walked {
  const creation = aCreation({ ...bothRoutes, ...change });
  const clock = fakeClock();
  const log = fakeLog();
  const saved: RouteAttempt[][] = [];
  const services = stub<RenderServices>({
    clock,
    log,
    randomBytes: seededBytes,
    images: stub<ImageStore>({ find: async (key) => Promise.resolve(stored.find((image) => image.key === key)) }),
    providers: new Map(providers.map((provider) => [provider.name, provider])),
  });
  const save = async (attempts: readonly RouteAttempt[]): Promise<void> => {
    onSave?.();
    saved.push(structuredClone([...attempts]));
    return Promise.resolve();
  };
  return { result: walkRoutes({ creation, until: deadlineAt, save, services }), saved, log, clock };
}

/** Throws the error at the nth save. */
function failsAt(nth: number, error: Error): () => void {
  let saves = 0;
  return () => {
    saves += 1;
    if (saves === nth) throw error;
  };
}

function withCancel<Provider extends ImageProvider>(provider: Provider): Provider & { readonly cancelled: string[] } {
  const cancelled: string[] = [];
  return { ...provider, cancelled, cancel: async (jobId) => Promise.resolve(void cancelled.push(jobId)) };
}

describe('the routes of a creation', () => {
  it('end at the first image; the attempt was written before the provider was called', async () => {
    const order: string[] = [];
    const first = fakeProvider('first', () => {
      order.push('called');
      return rendered;
    });
    const { result, saved } = walk({}, { providers: [first, fakeProvider('second')], onSave: () => order.push('saved') });
    const { image, bytes, attempts } = await result;
    expect(image).toMatchObject({ width: 64, height: 64, contentType: 'image/png', bytes: pngBytes.byteLength });
    expect(image.key).toMatch(/^results\/[A-Za-z0-9_-]{32}\.png$/);
    expect(bytes).toBe(pngBytes);
    expect(order).toEqual(['saved', 'called']);
    expect(saved[0]).toEqual([{ provider: 'first', providerModel: 'a', startedAt: '2026-11-21T12:00:30.000Z', resultKey: image.key }]);
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['rendered']);
  });

  it.each<RefusalReason>(['unavailable', 'credentials', 'unknown_outcome'])('go on to the second when the first is %s', async (reason) => {
    const first = fakeProvider('first', { kind: 'refused', reason, detail: 'HTTP 418' });
    const { result, log } = walk({}, { providers: [first, fakeProvider('second', rendered)] });
    const { attempts } = await result;
    expect(attempts.map(({ provider, outcome, detail }) => [provider, outcome, detail])).toEqual([
      ['first', reason, 'HTTP 418'],
      ['second', 'rendered', undefined],
    ]);
    for (const { endedAt } of attempts) expect(endedAt).toBe('2026-11-21T12:00:30.000Z');
    const answered = 'info provider_answered';
    expect(log.lines).toEqual(reason === 'credentials' ? [answered, 'alarm provider_refused_credentials', answered] : [answered, answered]);
  });

  it('go on to the second when the first is not there at all', async () => {
    const { result } = walk({}, { providers: [fakeProvider('second', rendered)] });
    expect((await result).attempts.map(({ outcome }) => outcome)).toEqual(['unavailable', 'rendered']);
  });

  it.each<[RefusalReason, FailureName]>([
    ['prompt', 'PromptRejected'],
    ['source_image', 'SourceImageRejected'],
    ['failed', 'GenerationFailed'],
    ['nothing_rendered', 'NothingRendered'],
    ['timed_out', 'GenerationTimedOut'],
    ['unknown_answer', 'InternalFailure'],
  ])('end with the first that says %s: %s', async (reason, failure) => {
    const second = fakeProvider('second');
    const { result, saved } = walk({}, { providers: [fakeProvider('first', refused(reason)), second] });
    expect(await rejection(result)).toMatchObject({ name: failure });
    expect(second.calls).toEqual([]);
    expect(saved.at(-1)?.map(({ outcome }) => outcome)).toEqual([failure]);
  });

  it('tell the operator of an answer that no adapter knows', async () => {
    const { result, log } = walk({}, { providers: [fakeProvider('first', { kind: 'refused', reason: 'unknown_answer', detail: 'HTTP 299' })] });
    expect(await rejection(result)).toMatchObject({ name: 'InternalFailure' });
    expect(log.lines).toContain('alarm provider_answer_unknown');
    expect(log.text()).toContain('HTTP 299');
  });

  it('whose last word is unknown end as ours, not as an outage', async () => {
    const { result } = walk({}, { providers: [fakeProvider('first', refused('unknown_outcome')), fakeProvider('second', refused('unavailable'))] });
    expect(await rejection(result)).toMatchObject({ name: 'InternalFailure' });
  });

  it('that are all down are "temporarily unavailable"', async () => {
    const down = refused('unavailable');
    const { result, saved } = walk({}, { providers: [fakeProvider('first', down), fakeProvider('second', down)] });
    expect(await rejection(result)).toMatchObject({ name: 'ServiceUnavailable' });
    expect(saved.at(-1)?.map(({ outcome }) => outcome)).toEqual(['unavailable', 'unavailable']);
  });

  it('end as ours when a provider breaks, or sends what is no image', async () => {
    const breaks = (): never => {
      throw new Error('secret of the vendor');
    };
    const broken = walk({}, { providers: [fakeProvider('first', breaks)] });
    expect(await rejection(broken.result)).toEqual({ name: 'InternalFailure', message: 'Generation failed.' });
    expect(broken.log.text()).not.toContain('secret of the vendor');
    const text = walk({}, { providers: [fakeProvider('first', { kind: 'rendered', bytes: Buffer.from('<html>') })] });
    expect(await rejection(text.result)).toMatchObject({ name: 'InternalFailure' });
  });

  it('end as ours when the image is of another type than was asked for', async () => {
    const { result, saved, log } = walk({ outputFormat: 'jpeg' }, { providers: [fakeProvider('first', rendered)] });
    expect(await rejection(result)).toMatchObject({ name: 'InternalFailure' });
    expect(saved.at(-1)?.[0]?.detail).toBe('image/png instead of jpeg');
    expect(log.lines).toContain('alarm provider_answer_unknown');
  });

  it('give a picture of another ratio than was asked for as it is, and tell the operator', async () => {
    const { result } = walk({ aspectRatio: '9:16' }, { providers: [fakeProvider('first', rendered)] });
    const { image, attempts } = await result;
    expect(image).toMatchObject({ width: 64, height: 64 });
    expect(attempts[0]?.detail).toBe('64 x 64 for 9:16');
  });
});

describe('a job that a provider accepted', () => {
  it('is saved with its id before it is first asked for, and polled as the provider says', async () => {
    const order: string[] = [];
    const first = fakeProvider(
      'first',
      pending('job-1', 700),
      () => {
        order.push('polled');
        return pending('job-1', 900);
      },
      rendered,
    );
    const { result, saved, clock } = walk({}, { providers: [first], onSave: () => order.push('saved') });
    await result;
    expect(order).toEqual(['saved', 'saved', 'polled']);
    expect(saved.map(([attempt]) => attempt?.jobId)).toEqual([undefined, 'job-1']);
    expect(first.calls).toEqual(['submit a', 'poll job-1', 'poll job-1']);
    expect(clock.sleeps).toEqual([700, 900]);
  });

  it('is polled and not submitted again by whoever comes after a crash', async () => {
    const first = fakeProvider('first', rendered);
    const { result } = walk({ attempts: [{ ...begun, jobId: 'job-1' }] }, { providers: [first] });
    expect((await result).image.key).toBe('results/begun.png');
    expect(first.calls).toEqual(['poll job-1']);
  });

  it('that does not end in time is "timed out"', async () => {
    const first = fakeProvider('first', pending('job-1', 400), pending('job-1', 400), pending('job-1', 400));
    const { result } = walk({ routes: bothRoutes.routes.slice(0, 1) }, { providers: [first], deadlineAt: now + 1_000 });
    expect(await rejection(result)).toMatchObject({ name: 'GenerationTimedOut' });
  });

  it('and that could not be written down is waited for all the same', async () => {
    const first = fakeProvider('first', pending('job-1'), rendered);
    const { result, log } = walk({}, { providers: [first], onSave: failsAt(2, new Error('the table is busy')) });
    expect((await result).attempts).toMatchObject([{ jobId: 'job-1', outcome: 'rendered' }]);
    expect(log.lines).toContain('info job_not_noted');
  });

  it('is let go when another invocation has taken over, which cannot know of it', async () => {
    const first = withCancel(fakeProvider('first', pending('job-1')));
    const { result } = walk({}, { providers: [first], onSave: failsAt(2, new Remedy('StillRunning', 'taken')) });
    expect(await rejection(result)).toMatchObject({ name: 'StillRunning' });
    expect(first.cancelled).toEqual(['job-1']);
  });

  it('is let go when the conversation about it breaks', async () => {
    const first = withCancel(fakeProvider('first', pending('job-1'), () => {
      throw new TypeError('a defect');
    }));
    const { result, log } = walk({}, { providers: [first] });
    expect(await rejection(result)).toMatchObject({ name: 'InternalFailure' });
    expect(first.cancelled).toEqual(['job-1']);
    expect(log.lines).toContain('alarm provider_call_broke');
  });
});

describe('a provider that does not answer in time', () => {
  const hanging = (name: string): ImageProvider => ({
    ...fakeProvider(name),
    submit: async (_job, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
  });

  it('leaves the second an equal share of the time', async () => {
    const second = fakeProvider('second', rendered);
    const { result, clock } = walk({}, { providers: [hanging('first'), second], deadlineAt: now + 10_000 });
    await new Promise(setImmediate);
    clock.set(now + 4_999);
    await new Promise(setImmediate);
    expect(second.calls).toEqual([]);
    clock.set(now + 5_000);
    const outcomes = (await result).attempts.map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['no_answer', 'rendered']);
  });

  it('and no other route is "timed out", also when the second was down', async () => {
    const { result, clock } = walk({}, { providers: [hanging('first'), fakeProvider('second', refused('unavailable'))], deadlineAt: now + 10_000 });
    await new Promise(setImmediate);
    clock.set(now + 5_000);
    expect(await rejection(result)).toMatchObject({ name: 'GenerationTimedOut' });
  });

  it('is told to stop the job that it had accepted', async () => {
    const first = withCancel(fakeProvider('first', pending('job-1', 600), pending('job-1', 600)));
    const { result } = walk({}, { providers: [first, fakeProvider('second', rendered)], deadlineAt: now + 2_000 });
    expect((await result).attempts.map(({ outcome, jobId }) => [outcome, jobId])).toEqual([['no_answer', 'job-1'], ['rendered', undefined]]);
    expect(first.cancelled).toEqual(['job-1']);
  });

  it('is not asked at all when the time is over', async () => {
    const { result } = walk({}, { providers: [fakeProvider('first')], deadlineAt: now });
    expect(await rejection(result)).toMatchObject({ name: 'GenerationTimedOut' });
  });
});

describe('an attempt whose end nobody saw', () => {
  it('is not repeated at the same vendor: the next route renders', async () => {
    const first = fakeProvider('first');
    const { result } = walk({ attempts: [begun] }, { providers: [first, fakeProvider('second', rendered)] });
    expect((await result).attempts.map(({ provider, outcome }) => [provider, outcome])).toEqual([
      ['first', 'unknown_outcome'],
      ['second', 'rendered'],
    ]);
    expect(first.calls).toEqual([]);
  });

  it('and no other route ends as ours, not as an outage', async () => {
    const only = walk({ attempts: [begun], routes: bothRoutes.routes.slice(0, 1) }, { providers: [fakeProvider('first')] });
    expect(await rejection(only.result)).toMatchObject({ name: 'InternalFailure' });
    const down = walk({ attempts: [begun] }, { providers: [fakeProvider('first'), fakeProvider('second', refused('unavailable'))] });
    expect(await rejection(down.result)).toMatchObject({ name: 'InternalFailure' });
  });

  it('is found when its image was stored, and committed without rendering again', async () => {
    const image: StoredImage = { key: 'results/begun.png', width: 9, height: 9, contentType: 'image/png', bytes: 99 };
    const first = fakeProvider('first');
    const { result } = walk({ attempts: [begun] }, { providers: [first], stored: [image] });
    expect(await result).toEqual({ image, attempts: [{ ...begun, outcome: 'rendered' }] });
    expect(first.calls).toEqual([]);
  });
});

describe('a walk that ended before', () => {
  it.each(failureNames)('by %s ends the same again, without a call', async (failure) => {
    const { result } = walk({ attempts: [{ ...begun, outcome: failure }] }, { providers: [fakeProvider('first'), fakeProvider('second')] });
    expect(await rejection(result)).toMatchObject({ name: failure });
  });

  it('at a provider that was down goes on with the next', async () => {
    const first = fakeProvider('first');
    const { result } = walk({ attempts: [{ ...begun, outcome: 'unavailable' }] }, { providers: [first, fakeProvider('second', rendered)] });
    expect((await result).attempts.at(-1)).toMatchObject({ provider: 'second', outcome: 'rendered' });
    expect(first.calls).toEqual([]);
  });
});
