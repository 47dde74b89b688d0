import { describe, expect, it } from 'vitest';
import type { ImageProvider } from '../../core/provider.ts';
import { Remedy } from '../../functions/workflow/payload.ts';
import { now } from '../fixtures/records.ts';
import { fakeProvider, rejection } from './fakes.ts';
import { begun, bothRoutes, failsAt, pending, refused, rendered, walk } from './walk-fixture.ts';

function withCancel<Provider extends ImageProvider>(
  provider: Provider,
): Provider & { readonly cancelled: string[] } {
  const cancelled: string[] = [];
  return { ...provider, cancelled, cancel: async (jobId) => Promise.resolve(void cancelled.push(jobId)) };
}

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
    const { result } = walk(
      { routes: bothRoutes.routes.slice(0, 1) },
      { providers: [first], deadlineAt: now + 1_000 },
    );
    expect(await rejection(result)).toMatchObject({ name: 'GenerationTimedOut' });
  });

  it('and that could not be written down is waited for all the same', async () => {
    const first = fakeProvider('first', pending('job-1'), rendered);
    const { result, log } = walk(
      {},
      { providers: [first], onSave: failsAt(2, new Error('the table is busy')) },
    );
    expect((await result).attempts).toMatchObject([{ jobId: 'job-1', outcome: 'rendered' }]);
    expect(log.lines).toContain('info job_not_noted');
  });

  it('is let go when another invocation has taken over, which cannot know of it', async () => {
    const first = withCancel(fakeProvider('first', pending('job-1')));
    const { result } = walk(
      {},
      { providers: [first], onSave: failsAt(2, new Remedy('StillRunning', 'taken')) },
    );
    expect(await rejection(result)).toMatchObject({ name: 'StillRunning' });
    expect(first.cancelled).toEqual(['job-1']);
  });

  it('is let go when the conversation about it breaks', async () => {
    const first = withCancel(
      fakeProvider('first', pending('job-1'), () => {
        throw new TypeError('a defect');
      }),
    );
    const { result, log } = walk({}, { providers: [first] });
    expect(await rejection(result)).toMatchObject({ name: 'InternalFailure' });
    expect(first.cancelled).toEqual(['job-1']);
    expect(log.lines).toContain('alarm provider_call_broke');
  });
});

describe('a provider that does not answer in time', () => {
  const hanging = (name: string): ImageProvider => ({
    ...fakeProvider(name),
    submit: async (_job, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
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
    const { result, clock } = walk(
      {},
      {
        providers: [hanging('first'), fakeProvider('second', refused('unavailable'))],
        deadlineAt: now + 10_000,
      },
    );
    await new Promise(setImmediate);
    clock.set(now + 5_000);
    expect(await rejection(result)).toMatchObject({ name: 'GenerationTimedOut' });
  });

  it('is told to stop the job that it had accepted', async () => {
    const first = withCancel(fakeProvider('first', pending('job-1', 600), pending('job-1', 600)));
    const { result } = walk(
      {},
      { providers: [first, fakeProvider('second', rendered)], deadlineAt: now + 2_000 },
    );
    expect((await result).attempts.map(({ outcome, jobId }) => [outcome, jobId])).toEqual([
      ['no_answer', 'job-1'],
      ['rendered', undefined],
    ]);
    expect(first.cancelled).toEqual(['job-1']);
  });

  it('is not asked at all when the time is over', async () => {
    const { result } = walk({}, { providers: [fakeProvider('first')], deadlineAt: now });
    expect(await rejection(result)).toMatchObject({ name: 'GenerationTimedOut' });
  });
});

describe('the log of a conversation with a provider', () => {
  const breaks = (): never => {
    throw new TypeError('details');
  };

  it('names the provider and the error when the adapter breaks, and the attempt says so', async () => {
    const { result, saved, log } = walk({}, { providers: [fakeProvider('first', breaks)] });
    await rejection(result);
    expect(log.entries[0]).toEqual(['alarm provider_call_broke', { provider: 'first', error: 'TypeError' }]);
    expect(saved.at(-1)).toMatchObject([{ outcome: 'InternalFailure', detail: 'the adapter broke' }]);
  });

  it('names the provider and the error when a job is not written down', async () => {
    const first = fakeProvider('first', pending('job-1'), rendered);
    const { result, log } = walk({}, { providers: [first], onSave: failsAt(2, new TypeError('details')) });
    await result;
    expect(log.entries[0]).toEqual(['info job_not_noted', { provider: 'first', error: 'TypeError' }]);
  });

  it('names the provider and the error when a job is not cancelled', async () => {
    const first = {
      ...fakeProvider('first', pending('job-1'), breaks),
      cancel: async (): Promise<never> => Promise.reject(new RangeError('details')),
    };
    const { result, log, clock } = walk({}, { providers: [first] });
    await rejection(result);
    expect(log.entries[1]).toEqual(['info job_not_cancelled', { provider: 'first', error: 'RangeError' }]);
    expect(clock.held).toBe(0);
  });

  it('is not written for a provider without a way to cancel', async () => {
    const { result, log } = walk({}, { providers: [fakeProvider('first', pending('job-1'), breaks)] });
    await rejection(result);
    expect(log.lines).toEqual([
      'alarm provider_call_broke',
      'info provider_answered',
      'alarm provider_answer_unknown',
    ]);
  });
});

describe('a provider that says "pending" and cannot be polled', () => {
  it('ends the creation as ours, and the attempt says why', async () => {
    const first: ImageProvider = { name: 'first', submit: async () => Promise.resolve(pending('job-1')) };
    const { result, saved } = walk({}, { providers: [first] });
    expect(await rejection(result)).toMatchObject({ name: 'InternalFailure' });
    expect(saved.at(-1)).toMatchObject([{ detail: 'a job without a poll' }]);
  });
});

describe('a job that is taken up after a crash', () => {
  it('is polled at once', async () => {
    const first = fakeProvider('first', rendered);
    const { result, clock } = walk({ attempts: [{ ...begun, jobId: 'job-1' }] }, { providers: [first] });
    await result;
    expect(clock.sleeps).toEqual([0]);
  });
});

describe('the call that cancels a job', () => {
  it('may take 1.5 s', async () => {
    let signal: AbortSignal | undefined;
    const given: unknown[] = [];
    const first: ImageProvider = {
      ...fakeProvider('first', pending('job-1'), () => {
        throw new Error('broken');
      }),
      cancel: async (jobId, job, limit) => {
        given.push(jobId, job.providerModel);
        signal = limit;
        return new Promise((resolve) => {
          limit.addEventListener('abort', () => {
            resolve();
          });
        });
      },
    };
    const { result, clock } = walk({}, { providers: [first] });
    await new Promise(setImmediate);
    const began = clock.now();
    clock.set(began + 1_499);
    expect(signal?.aborted).toBe(false);
    clock.set(began + 1_500);
    expect(signal?.aborted).toBe(true);
    expect(await rejection(result)).toMatchObject({ name: 'InternalFailure' });
    expect(given).toEqual(['job-1', 'a']);
  });

  it('is not made when the call broke before a job was accepted', async () => {
    const first = withCancel(
      fakeProvider('first', () => {
        throw new Error('broken');
      }),
    );
    await rejection(walk({}, { providers: [first] }).result);
    expect(first.cancelled).toEqual([]);
  });
});
