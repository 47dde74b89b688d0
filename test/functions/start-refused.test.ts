/** What becomes of a charged creation whose execution cannot be started. */
import { describe, expect, it } from 'vitest';
import type { ChargeStore, Refund } from '../../core/ports/charges.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import type { Executions, StartOutcome } from '../../core/ports/executions.ts';
import { accountId, aCreation, now } from '../fixtures/records.ts';
import { stub } from './fakes.ts';
import { accepting, post, type Stage } from './serve-fixture.ts';

const body = { model: 'sandbox-standard', prompt: 'a pier' };
/** The id of a creation that is made at the fixture's time with the fixture's random bytes. */
const id = '01a1fdfa-bb30-7607-8809-0a0b0c0d0e0f';

describe('an execution that cannot be started', () => {
  interface Refused extends Stage {
    readonly refunds: readonly Refund[];
  }

  /** Services whose start and refund have the given outcomes. An error makes the refund throw. */
  function refusing(
    start: StartOutcome,
    refund: Awaited<ReturnType<ChargeStore['refund']>> | Error = 'refunded',
    readAs?: ReturnType<typeof aCreation>,
  ): Refused {
    const refunds: Refund[] = [];
    const stage = accepting({
      services: {
        executions: stub<Executions>({ start: async () => Promise.resolve(start) }),
        charges: stub<ChargeStore>({
          countStart: () => Promise.resolve(),
          charge: async () => Promise.resolve({ kind: 'charged' }),
          refund: async (_creation, asked) => {
            refunds.push(asked);
            return refund instanceof Error ? Promise.reject(refund) : Promise.resolve(refund);
          },
        }),
        creations: stub<CreationStore>({ read: async () => Promise.resolve(readAs) }),
      },
    });
    return { ...stage, refunds };
  }

  const ids = { requestId: 'request-1', accountId };
  const alarm = ['alarm start_refused', { ...ids, creationId: id, executionId: id }];

  it('The charge is given back in full without a webhook, and the answer says so', async () => {
    const stage = refusing('refused');
    const answer = await post(stage, body);
    expect(answer.body).toEqual({
      error: {
        code: 'ERR_PROVIDER_UNAVAILABLE',
        message: 'The creation could not be started. Its charge was given back in full.',
        details: { reason: 'provider_unavailable', creation_id: id },
      },
    });
    expect(answer.headers?.['retry-after']).toBe('30');
    expect(stage.refunds).toEqual([{ failure: 'ServiceUnavailable', nowMillis: now, announce: false }]);
    expect(stage.log.entries).toEqual([
      alarm,
      [
        'info creation_failed',
        { ...ids, creationId: id, failure: 'ServiceUnavailable', refundedMicros: 40_000 },
      ],
    ]);
  });

  it.each<[string, Parameters<typeof refusing>[1], ReturnType<typeof aCreation> | undefined, number]>([
    ['stands when the table is too busy to refund', 'busy', undefined, 202],
    ['stands when it completed meanwhile', 'already_terminal', aCreation({ status: 'completed' }), 202],
    ['stands when it is not there any more', 'already_terminal', undefined, 202],
    ['was refunded when it failed meanwhile', 'already_terminal', aCreation({ status: 'failed' }), 503],
  ])('The creation %s', async (_what, refund, readAs, status) => {
    const stage = refusing('refused', refund, readAs);
    expect((await post(stage, body)).status).toBe(status);
    expect(stage.log.entries).toEqual([alarm]);
  });

  it('The creation stays accepted when the outcome of the refund is unknown, and the log names the error', async () => {
    const stage = refusing('refused', new TypeError('details'));
    expect((await post(stage, body)).status).toBe(202);
    expect(stage.log.entries).toEqual([
      alarm,
      ['info refund_unclear', { ...ids, creationId: id, error: 'TypeError' }],
    ]);
  });

  it('The creation stays accepted when it is unclear whether its execution started', async () => {
    const stage = refusing('unclear');
    expect((await post(stage, body)).status).toBe(202);
    expect(stage.refunds).toEqual([]);
    expect(stage.log.entries).toMatchObject([
      ['info creation_accepted', { started: 'unclear' }],
      ['info start_unclear', { creationId: id }],
    ]);
  });
});
