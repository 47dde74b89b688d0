/**
 * The lease of a creation, which its renderer renews while it makes progress. The renderer says which step it
 * begins and how long the step may take. After that time the lease is not renewed any more, so that a call
 * that hangs does not keep the creation from an invocation that could end it.
 */
import type { CreationId } from '../../core/ids.ts';
import { leaseRenewMillis } from '../../core/limits.ts';
import { errorName } from '../error-name.ts';
import type { RenderServices } from '../services/render.ts';

/**
 * Long enough that a renewal may come late, and short enough that the next invocation goes on within 30 s of
 * a crash.
 */
export const leaseMillis = 6_000;

export type Step = 'ask_providers' | 'store_image' | 'complete_creation';

export interface HeldLease {
  /** The renderer begins this step, which may take at most so many milliseconds. */
  begin(step: Step, mostMillis: number): void;
  /**
   * Ends the renewals and waits for the renewal that is being written. The lease itself stays until its time
   * is over.
   */
  release(): Promise<void>;
  /** Ends the renewals and the lease, so that the next invocation may begin at once. */
  giveBack(): Promise<void>;
}

export function holdLease(
  id: CreationId,
  holder: string,
  { clock, creations, log }: Pick<RenderServices, 'clock' | 'creations' | 'log'>,
): HeldLease {
  let step: Step | undefined;
  let until = Infinity;
  let renewing = Promise.resolve();
  const renew = async (forMillis: number): Promise<void> => {
    try {
      await creations.renewLease(id, holder, clock.now() + forMillis);
    } catch (error) {
      log.info('lease_not_renewed', { error: errorName(error) });
    }
  };
  const stop = clock.every(leaseRenewMillis, () => {
    if (clock.elapsed() <= until) {
      renewing = renew(leaseMillis);
      return;
    }
    stop();
    log.info('lease_let_go', { step });
  });
  const release = (): Promise<void> => {
    stop();
    return renewing;
  };
  return {
    begin: (next, mostMillis) => {
      step = next;
      until = clock.elapsed() + mostMillis;
    },
    release,
    giveBack: async () => {
      await release();
      await renew(0);
    },
  };
}
