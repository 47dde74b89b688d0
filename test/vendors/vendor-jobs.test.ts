/** The polls of a vendor's job. */
import { describe, expect, it } from 'vitest';
import { CredentialsUnreadable } from '../../service/vendors/provider.ts';
import { CallBroke, type VendorResponse } from '../../service/vendors/vendor-http.ts';
import {
  isTrouble,
  neededFor,
  pendingJob,
  polling,
  type PollOutcome,
  type Waits,
} from '../../service/vendors/vendor-jobs.ts';

const waits: Waits = [500, 700, 900];

describe('A job that has not ended', () => {
  it('A job is polled after the waits in turn, and then always after the last wait', () => {
    const asked = [0, 1, 2, 3, 9].map((polls) => pendingJob(waits, ['https://vendor.test/job', 'id'], polls));
    expect(asked).toEqual(
      [
        [0, 500],
        [1, 700],
        [2, 900],
        [3, 900],
        [9, 900],
      ].map(([polls, pollAfterMillis]) => ({
        kind: 'pending',
        jobId: `${String(polls)} https://vendor.test/job id`,
        pollAfterMillis,
      })),
    );
  });

  it('A job is polled at least five seconds after a failed poll', () => {
    expect(pendingJob(waits, ['id'], 1, true)).toMatchObject({ pollAfterMillis: 5_000 });
    expect(pendingJob([6_000], ['id'], 1, true)).toMatchObject({ pollAfterMillis: 6_000 });
  });

  it.each([[['']], [['a b']], [['a\tb']], [['id', '']], [['id', 'x\ny']]])(
    'A job with an id of an unknown form is refused: %j',
    (needed) => {
      expect(pendingJob(waits, needed)).toMatchObject({ kind: 'refused', reason: 'unknown_answer' });
    },
  );

  it.each<[string, () => PollOutcome | Promise<PollOutcome>, object]>([
    ['works on', () => 'working', { kind: 'pending', jobId: '3 job', pollAfterMillis: 900 }],
    ['is in trouble', () => 'trouble', { kind: 'pending', jobId: '3 job', pollAfterMillis: 5_000 }],
    [
      'cannot be reached',
      () => Promise.reject(new CallBroke('ECONNRESET', false)),
      { kind: 'pending', jobId: '3 job', pollAfterMillis: 5_000 },
    ],
    [
      'cannot be asked for without its key',
      () => Promise.reject(new CredentialsUnreadable('no')),
      { kind: 'pending', jobId: '3 job', pollAfterMillis: 5_000 },
    ],
    [
      'has too large a picture',
      () => Promise.reject(new CallBroke('TOO_LARGE', false)),
      { kind: 'refused', reason: 'unknown_answer' },
    ],
  ])('A job that %s has this answer', async (_what, ask, answer) => {
    expect(await polling('2 job', waits, async () => ask())).toMatchObject(answer);
  });

  it('A job is polled by the addresses or ids in its id', async () => {
    expect(neededFor('12 https://vendor.test/job id')).toEqual(['https://vendor.test/job', 'id']);
    const asked: string[] = [];
    await polling('0 one two', waits, (...needed) => Promise.resolve((asked.push(...needed), 'working')));
    expect(asked).toEqual(['one', 'two']);
  });

  it.each([
    [200, false],
    [404, false],
    [428, false],
    [429, true],
    [430, false],
    [499, false],
    [500, true],
    [503, true],
  ])('A poll with status %i has failed: %j', (status, answer) => {
    expect(isTrouble({ status } as VendorResponse)).toBe(answer);
  });
});
