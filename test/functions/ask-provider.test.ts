import { describe, expect, it } from 'vitest';
import type { ImageProvider } from '../../core/provider.ts';
import { Remedy } from '../../functions/workflow/payload.ts';
import { now } from '../fixtures/records.ts';
import { fakeProvider, rejection } from './fakes.ts';
import { begun, bothRoutes, pending, refused, rendered, walk } from './walk-fixture.ts';

/** Throws the error at the nth save. */
function failsAt(nth: number, error: Error): () => void {
  let saves = 0;
  return () => {
    saves += 1;
    if (saves === nth) throw error;
  };
}

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
