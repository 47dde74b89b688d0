/** The reconciler over fakes of its ports: one creation, and the steps that a run takes. */
import type { CreationRecord } from '../../core/creation.ts';
import type { ChargeStore, Refund } from '../../core/ports/charges.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import type { Executions, OpenWorkStore, StartOutcome } from '../../core/ports/executions.ts';
import { reconcile, type ReconcileEvent } from '../../functions/schedule/reconcile.ts';
import type { ReconcileServices } from '../../functions/services/reconcile.ts';
import { creationId, now } from '../fixtures/records.ts';
import { fakeClock, fakeLog, stub, type FakeLog } from './fakes.ts';

export const minute = 60_000;
export const deadline = now + 5 * minute;

export interface Setting {
  /** What each read of the creation returns. The last one is returned again. */
  readonly creations: readonly (CreationRecord | undefined)[];
  readonly at?: number;
  readonly execution?: 'running' | 'ended' | 'absent';
  readonly start?: StartOutcome;
  readonly isNoted?: boolean;
  readonly refund?: 'refunded' | 'already_terminal' | 'busy';
  readonly event?: ReconcileEvent;
}

export interface Ran {
  readonly steps: string[];
  readonly refunds: readonly Refund[];
  readonly report: Awaited<ReturnType<typeof reconcile>>;
  readonly log: FakeLog;
}

const later = (millis: number): string => `${(millis - now) / 1000} s`;

/** One run, two minutes after the creation was made, unless the test says otherwise. */
export async function run(setting: Setting): Promise<Ran> {
  const {
    at = now + 2 * minute,
    execution = 'ended',
    start = 'started',
    isNoted = true,
    refund = 'refunded',
  } = setting;
  const steps: string[] = [];
  const refunds: Refund[] = [];
  const log = fakeLog();
  const left = [...setting.creations];
  const services = stub<ReconcileServices>({
    clock: fakeClock(at),
    log,
    creations: stub<CreationStore>({
      read: async () => Promise.resolve(left.length > 1 ? left.shift() : left[0]),
    }),
    charges: stub<ChargeStore>({
      refund: async (_creation, asked) => {
        steps.push(`refund ${asked.failure}`);
        refunds.push(asked);
        return Promise.resolve(refund);
      },
    }),
    openWork: stub<OpenWorkStore>({
      overdue: async () => Promise.resolve([creationId]),
      recordOpenCount: async () => Promise.resolve(7),
      postpone: async (_creation, due) => {
        steps.push(due === undefined ? 'settle' : `postpone to ${later(due)}`);
        return Promise.resolve(true);
      },
      noteStart: async (_creation, due, number) => {
        steps.push(`note ${number}, next look at ${later(due)}`);
        return Promise.resolve(isNoted);
      },
    }),
    executions: stub<Executions>({
      state: async (_id, number) => {
        steps.push(`ask for ${number}`);
        return Promise.resolve(execution);
      },
      start: async (_id, number) => {
        steps.push(`start ${number}`);
        return Promise.resolve(start);
      },
    }),
  });
  return { report: await reconcile(setting.event ?? {}, services), steps, refunds, log };
}

export const steps = async (setting: Setting): Promise<string[]> => (await run(setting)).steps;
