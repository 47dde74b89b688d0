/**
 * The lease of a creation, which its renderer renews while it makes progress. The renderer says which step it
 * begins and how long the step may take. After that time the lease is not renewed any more, so that a call
 * that hangs does not keep the creation from an invocation that could end it. The heartbeats of a task that
 * waits for the renderer begin and end with the renewals.
 */
import { leaseRenewMillis } from '../contract/limits.ts';
import { heartbeatEveryMillis } from '../creations/machines.ts';
import type { CreationId } from '../values/ids.ts';
import { errorName } from '../values/runtime.ts';
import type { RenderServices } from './open.ts';

/** A renewal may come late, and the next invocation still continues within 30 s of a crash. */
export const leaseMillis = 6_000;

export type Step = 'ask_providers' | 'store_image' | 'complete_creation';

export type HeldLease = ReturnType<typeof holdLease>;

/** @param beat sends the heartbeat of the task that waits for the holder. It never rejects. */
export function holdLease(
  id: CreationId,
  holder: string,
  { clock, creations, log }: Pick<RenderServices, 'clock' | 'creations' | 'log'>,
  beat?: () => Promise<unknown>,
) {
  let step: Step | undefined;
  let until = Infinity;
  let renewing = Promise.resolve();
  let beating: Promise<unknown> = Promise.resolve();
  const renew = async (forMillis: number): Promise<void> => {
    try {
      await creations.renewLease(id, holder, clock.now() + forMillis);
    } catch (error) {
      log.info('lease_not_renewed', { error: errorName(error) });
    }
  };
  const stopBeats =
    beat &&
    clock.every(heartbeatEveryMillis, () => {
      beating = beat();
    });
  const stopRenewals = clock.every(leaseRenewMillis, () => {
    if (clock.elapsed() <= until) {
      renewing = renew(leaseMillis);
      return;
    }
    stop();
    log.info('lease_let_go', { step });
  });
  const stop = (): void => {
    stopRenewals();
    stopBeats?.();
  };
  return {
    /** The renderer begins this step, which may take at most this number of milliseconds. */
    begin: (next: Step, mostMillis: number) => {
      step = next;
      until = clock.elapsed() + mostMillis;
    },
    /** Ends the renewals, and waits for a running one. The lease stays until it expires. */
    release: async () => {
      stop();
      await Promise.all([renewing, beating]);
    },
    /** Ends the renewals and the lease, so that the next invocation may begin at once. */
    giveBack: async () => {
      stop();
      await renewing;
      await renew(0);
      await beating;
    },
  };
}
