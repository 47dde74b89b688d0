import { expect, it } from 'vitest';
import { journalOf } from '../../service/operator/journal.ts';
import type { OperatorServices } from '../../service/operator/open.ts';
import type { OperatorKey } from '../../service/operated/operator-key.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { fakeLog, stub } from '../api/fakes.ts';
import { now } from '../fixtures/records.ts';

it('A failure to note how an action ended is logged, and does not fail the request', async () => {
  const log = fakeLog();
  const journal = journalOf(
    { method: 'POST' },
    { name: 'openAccount', params: {} },
    stub<OperatorKey>({ id: 'opk_1', name: 'shop' }),
    stub<OperatorServices>({
      actions: stub<OperatorServices['actions']>({
        begin: () => Promise.resolve(),
        end: () => Promise.reject(new Overloaded('busy')),
      }),
      clock: stub<OperatorServices['clock']>({ now: () => now }),
      log,
      randomBytes: (length) => new Uint8Array(length),
    }),
  );
  await journal.begin('SERVICE');
  await journal.end({ outcome: 'done' });
  expect(log.entries).toEqual([
    ['info action_end_not_noted', { action: 'openAccount', error: 'Overloaded' }],
  ]);
});
