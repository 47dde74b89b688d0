import { describe, expect, it } from 'vitest';
import { failureNames } from '../../service/contract/failures.ts';
import type { ChargeStore } from '../../service/creations/charge-store.ts';
import type { Refund } from '../../service/creations/refund.ts';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import type { CreationRecord } from '../../service/creations/creation.ts';
import type { RefundServices } from '../../service/creations/open-refund.ts';
import { refundCharge } from '../../service/creations/refund-creation.ts';
import { schema } from '../../service/values/runtime.ts';
import { fakeClock, fakeLog, rejection, stub } from '../api/fakes.ts';
import { accountId, aCreation, creationId, now } from '../fixtures/records.ts';

function stage(
  outcome: 'refunded' | 'already_terminal' | 'busy' = 'refunded',
  isThere = true,
  change: Partial<CreationRecord> = {},
): { services: RefundServices; refunds: Refund[]; log: ReturnType<typeof fakeLog> } {
  const refunds: Refund[] = [];
  const log = fakeLog();
  const services = stub<RefundServices>({
    clock: fakeClock(),
    log,
    schema,
    creations: stub<CreationStore>({
      read: async () => Promise.resolve(isThere ? aCreation(change) : undefined),
    }),
    charges: stub<ChargeStore>({
      refund: async (_creation, refund) => {
        refunds.push(refund);
        return Promise.resolve(outcome);
      },
    }),
  });
  return { services, refunds, log };
}

describe('RefundCharge', () => {
  it.each(failureNames)('The creation fails with the message of %s', async (failure) => {
    const { services, refunds } = stage();
    expect(await refundCharge({ creation_id: creationId, failure: { Error: failure } }, services)).toEqual({
      creation_id: creationId,
    });
    expect(refunds).toEqual([{ failure, nowMillis: now, announce: true }]);
  });

  it.each(['States.Timeout', 'States.HeartbeatTimeout'])(
    'The error %s of Step Functions fails the creation as GenerationTimedOut',
    async (Error) => {
      const { services, refunds } = stage();
      await refundCharge({ creation_id: creationId, failure: { Error } }, services);
      expect(refunds.map(({ failure }) => failure)).toEqual(['GenerationTimedOut']);
    },
  );

  it.each(['Runtime.ExitError', 'Runtime.OutOfMemory', 'Sandbox.Timedout', 'TypeError', undefined])(
    'The error %s fails the creation as InternalFailure',
    async (name) => {
      const { services, refunds } = stage();
      await refundCharge(
        { creation_id: creationId, failure: name === undefined ? {} : { Error: name } },
        services,
      );
      expect(refunds.map(({ failure }) => failure)).toEqual(['InternalFailure']);
    },
  );

  const stopped = {
    provider: 'fal',
    providerModel: 'a',
    startedAt: '2026-11-21T12:00:30.000Z',
    resultKey: 'results/a.png',
    jobId: 'job-1',
    outcome: 'cancelled',
  } as const;

  it('A creation whose job was stopped by a cancel fails as cancelled, whatever the error', async () => {
    const cancelRequestedAt = '2026-11-21T12:00:40.000Z';
    const { services, refunds, log } = stage('refunded', true, { attempts: [stopped], cancelRequestedAt });
    await refundCharge({ creation_id: creationId, failure: { Error: 'States.Timeout' } }, services);
    expect(refunds).toEqual([
      { failure: 'InternalFailure', nowMillis: now, announce: true, isCancelled: true },
    ]);
    expect(log.entries[0]?.[1]).toMatchObject({ failure: 'Cancelled' });
  });

  it('A creation whose vendor stopped the job by itself is not cancelled', async () => {
    const { services, refunds } = stage('refunded', true, { attempts: [stopped] });
    await refundCharge({ creation_id: creationId, failure: { Error: 'GenerationTimedOut' } }, services);
    expect(refunds).toEqual([{ failure: 'GenerationTimedOut', nowMillis: now, announce: true }]);
  });

  it('A creation that is already terminal is not logged again', async () => {
    const first = stage();
    const second = stage('already_terminal');
    await refundCharge({ creation_id: creationId }, first.services);
    await refundCharge({ creation_id: creationId }, second.services);
    expect(first.log.lines).toEqual(['info creation_failed']);
    expect(second.log.lines).toEqual([]);
  });

  it('A busy table makes the state machine try again', async () => {
    const { services, log } = stage('busy');
    expect(await rejection(refundCharge({ creation_id: creationId }, services))).toMatchObject({
      name: 'RefundBusy',
    });
    expect(log.lines).toEqual(['info refund_busy']);
  });

  it('A creation that is absent, as after a restore of the table, is passed over', async () => {
    const { services, refunds } = stage('refunded', false);
    expect(await refundCharge({ creation_id: creationId }, services)).toEqual({ creation_id: creationId });
    expect(refunds).toEqual([]);
  });
});

describe('the log of RefundCharge', () => {
  const ids = { creationId, accountId, executionId: creationId };

  it('The log says which creation failed, why, and how much was given back', async () => {
    const { services, log } = stage();
    await refundCharge({ creation_id: creationId, failure: { Error: 'NothingRendered' } }, services);
    expect(log.entries).toEqual([
      ['info creation_failed', { ...ids, failure: 'NothingRendered', refundedMicros: 40_000 }],
    ]);
  });

  it('The log says which creation could not be refunded because the table was busy', async () => {
    const { services, log } = stage('busy');
    expect(await rejection(refundCharge({ creation_id: creationId }, services))).toEqual({
      name: 'RefundBusy',
      message: 'the table was too busy to refund the charge',
    });
    expect(log.entries).toEqual([['info refund_busy', ids]]);
  });
});
