import { describe, expect, it } from 'vitest';
import { WorkflowError } from '../../service/creations/payload.ts';
import type { ImageProvider } from '../../service/vendors/provider.ts';
import { fakeProvider, rejection, failureOf } from '../api/fakes.ts';
import { now } from '../fixtures/records.ts';
import { begun, bothRoutes, failsAt, pending, refused, rendered, walk, walkOver } from './walk-fixture.ts';

function withCancel<Provider extends ImageProvider>(
  provider: Provider,
): Provider & { readonly cancelled: string[] } {
  const cancelled: string[] = [];
  return {
    ...provider,
    cancelled,
    cancel: async (jobId) => {
      cancelled.push(jobId);
      return Promise.resolve('asked');
    },
  };
}

describe('a job that a provider accepted', () => {
  it('The job id is saved before the first poll, and the polls follow the pauses that the provider asks for', async () => {
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
    const { result, saved, clock } = walkOver([first], { onSave: () => order.push('saved') });
    await result;
    expect(order).toEqual(['saved', 'saved', 'polled']);
    expect(saved.map(([attempt]) => attempt?.jobId)).toEqual([undefined, 'job-1']);
    expect(first.calls).toEqual(['submit a', 'poll job-1', 'poll job-1']);
    expect(clock.sleeps).toEqual([700, 900]);
  });

  it('An invocation that comes after a crash polls the job at once and does not submit it again', async () => {
    const first = fakeProvider('first', rendered);
    const { result, clock } = walk({ attempts: [{ ...begun, jobId: 'job-1' }] }, { providers: [first] });
    expect((await result).image.key).toBe('results/begun.png');
    expect([first.calls, clock.sleeps]).toEqual([['poll job-1'], [0]]);
  });

  it('A job that does not end in time fails the creation as GenerationTimedOut', async () => {
    const first = fakeProvider('first', pending('job-1', 400), pending('job-1', 400), pending('job-1', 400));
    const { result } = walk(
      { routes: bothRoutes.routes.slice(0, 1) },
      { providers: [first], deadlineAt: now + 1_000 },
    );
    expect(await failureOf(result)).toBe('GenerationTimedOut');
  });

  it('The job is cancelled when another invocation has the lease, because that invocation does not know the job', async () => {
    const first = withCancel(fakeProvider('first', pending('job-1')));
    const { result } = walkOver([first], { onSave: failsAt(2, new WorkflowError('StillRunning', 'taken')) });
    expect(await failureOf(result)).toBe('StillRunning');
    expect(first.cancelled).toEqual(['job-1']);
  });

  it('The job is cancelled when a poll throws an unexpected error', async () => {
    const first = withCancel(
      fakeProvider('first', pending('job-1'), () => {
        throw new TypeError('a defect');
      }),
    );
    const { result, log } = walkOver([first]);
    expect(await failureOf(result)).toBe('InternalFailure');
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

  it('The creation fails as GenerationTimedOut even if the second provider was unavailable', async () => {
    const { result, clock } = walkOver([hanging('first'), fakeProvider('second', refused('unavailable'))], {
      deadlineAt: now + 10_000,
    });
    await new Promise(setImmediate);
    clock.set(now + 5_000);
    expect(await failureOf(result)).toBe('GenerationTimedOut');
  });

  it('The provider is asked to cancel the job that it accepted', async () => {
    const first = withCancel(fakeProvider('first', pending('job-1', 600), pending('job-1', 600)));
    const { result } = walkOver([first, fakeProvider('second', rendered)], { deadlineAt: now + 2_000 });
    expect((await result).attempts.map(({ outcome, jobId }) => [outcome, jobId])).toEqual([
      ['no_answer', 'job-1'],
      ['rendered', undefined],
    ]);
    expect(first.cancelled).toEqual(['job-1']);
  });
});

describe('the log of a conversation with a provider', () => {
  const breaks = (): never => {
    throw new TypeError('details');
  };

  it('An adapter that throws is an alarm with the provider and the error, and the attempt notes it', async () => {
    const { result, saved, log } = walkOver([fakeProvider('first', breaks)]);
    await rejection(result);
    expect(log.entries[0]).toEqual(['alarm provider_call_broke', { provider: 'first', error: 'TypeError' }]);
    expect(saved.at(-1)).toMatchObject([{ outcome: 'InternalFailure', detail: 'the adapter broke' }]);
  });

  it('A job whose id could not be saved is polled until it ends, and the log names the provider and the error', async () => {
    const first = fakeProvider('first', pending('job-1'), rendered);
    const { result, log } = walkOver([first], { onSave: failsAt(2, new TypeError('details')) });
    expect((await result).attempts).toMatchObject([{ jobId: 'job-1', outcome: 'rendered' }]);
    expect(log.entries[0]).toEqual(['info job_not_noted', { provider: 'first', error: 'TypeError' }]);
  });

  it('The log names the provider and the error when a job could not be cancelled', async () => {
    const first = {
      ...fakeProvider('first', pending('job-1'), breaks),
      cancel: async (): Promise<never> => Promise.reject(new RangeError('details')),
    };
    const { result, log, clock } = walkOver([first]);
    await rejection(result);
    expect(log.entries[1]).toEqual(['info job_not_cancelled', { provider: 'first', error: 'RangeError' }]);
    expect(clock.held).toBe(0);
  });

  it('The log has no line about cancelling for a provider that cannot cancel a job', async () => {
    const { result, log } = walkOver([fakeProvider('first', pending('job-1'), breaks)]);
    await rejection(result);
    expect(log.lines).toEqual([
      'alarm provider_call_broke',
      'info provider_answered',
      'alarm provider_answer_unknown',
    ]);
  });
});

describe('a provider that answers "pending" and has no poll', () => {
  it('The creation fails as InternalFailure, and the attempt says why', async () => {
    const first: ImageProvider = { name: 'first', submit: async () => Promise.resolve(pending('job-1')) };
    const { result, saved } = walkOver([first]);
    expect(await failureOf(result)).toBe('InternalFailure');
    expect(saved.at(-1)).toMatchObject([{ detail: 'a job without a poll' }]);
  });
});

describe('the call that cancels a job', () => {
  it('The call may take 1.5 s', async () => {
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
            resolve('asked');
          });
        });
      },
    };
    const { result, clock } = walkOver([first]);
    await new Promise(setImmediate);
    const began = clock.now();
    clock.set(began + 1_499);
    expect(signal?.aborted).toBe(false);
    clock.set(began + 1_500);
    expect(signal?.aborted).toBe(true);
    expect(await failureOf(result)).toBe('InternalFailure');
    expect(given).toEqual(['job-1', 'a']);
  });

  it('The call is not made when no job was accepted', async () => {
    const first = withCancel(
      fakeProvider('first', () => {
        throw new Error('broken');
      }),
    );
    await rejection(walkOver([first]).result);
    expect(first.cancelled).toEqual([]);
  });
});
