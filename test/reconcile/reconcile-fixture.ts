/** The reconciler over fakes of its ports: one creation, and the steps that a run takes. */
import type { StartOutcome } from '../../service/aws/step-functions.ts';
import type { ChargeStore } from '../../service/creations/charge-store.ts';
import type { Refund } from '../../service/creations/refund.ts';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import type { CreationRecord } from '../../service/creations/creation.ts';
import type { Executions } from '../../service/creations/executions.ts';
import type { OpenWorkStore } from '../../service/creations/open-work-store.ts';
import type { ReconcileServices } from '../../service/reconcile/open.ts';
import { reconcile, type ReconcileEvent } from '../../service/reconcile/reconcile.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { schema } from '../../service/values/runtime.ts';
import { fakeClock, fakeLog, type FakeLog, stub } from '../api/fakes.ts';
import { creationId, now, seededBytes } from '../fixtures/records.ts';
import { creationIdIn } from '../fixtures/values.ts';

export const minute = 60_000;
export const deadline = now + 5 * minute;

export interface Setting {
  /** What each read of the creation returns. The last one is returned again. */
  readonly creations: readonly (CreationRecord | undefined)[];
  readonly at?: number;
  readonly execution?: 'running' | 'ended' | 'absent';
  /** The execution runs with another input than the one of this release. */
  readonly isOfOlderRelease?: boolean;
  readonly start?: StartOutcome;
  readonly isNoted?: boolean;
  readonly refund?: 'refunded' | 'already_terminal' | 'busy';
  readonly event?: ReconcileEvent;
}

/** Pages of the index of open work. */
export async function* pagesOf(
  ...pages: readonly (readonly CreationId[])[]
): AsyncGenerator<readonly CreationId[]> {
  for (const page of pages) yield Promise.resolve(page);
}

/** A run of the schedule over creations that this store reads and this index lists. */
export async function runOver(
  readAll: CreationStore['readAll'],
  openWork: Partial<OpenWorkStore>,
  at = now,
): Promise<Pick<Ran, 'report' | 'log'>> {
  const log = fakeLog();
  const services = stub<ReconcileServices>({
    clock: fakeClock(at),
    log,
    schema,
    creations: stub<CreationStore>({ readAll }),
    openWork: stub<OpenWorkStore>(openWork),
  });
  return { report: await reconcile({}, services, () => 55_000), log };
}

/** The ids of this many creations. */
export const idsOf = (count: number): readonly CreationId[] =>
  Array.from({ length: count }, (_, index) =>
    creationIdIn(creationId.replace(/.{2}$/, String(index).padStart(2, '0'))),
  );

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
    schema,
    creations: stub<CreationStore>({
      readAll: async () => {
        const creation = left.length > 1 ? left.shift() : left[0];
        return Promise.resolve(creation ? [creation] : []);
      },
    }),
    charges: stub<ChargeStore>({
      refund: async (_creation, asked) => {
        steps.push(`refund ${asked.failure}`);
        refunds.push(asked);
        return Promise.resolve(refund);
      },
    }),
    openWork: stub<OpenWorkStore>({
      overdue: () => [pagesOf([creationId])],
      acceptedLately: async () => Promise.resolve(0),
      holdStarts: async () => Promise.resolve(true),
      releaseStarts: async () => Promise.resolve(),
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
      ensure: async (_id, number) => {
        steps.push(`ensure ${number}`);
        if (start !== 'started') return Promise.resolve({ kind: start });
        if (execution === 'ended' || setting.isOfOlderRelease === true)
          return Promise.resolve({ kind: 'exists' });
        const startedAtMillis = execution === 'running' ? at - minute : at;
        return Promise.resolve({ kind: 'running', startedAtMillis });
      },
    }),
    startsPerSecond: 150,
    randomBytes: seededBytes,
  });
  return { report: await reconcile(setting.event ?? {}, services, () => 55_000), steps, refunds, log };
}

export const steps = async (setting: Setting): Promise<string[]> => (await run(setting)).steps;
