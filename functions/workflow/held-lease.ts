/**
 * The lease of a creation, held while its renderer makes progress. The renderer says what it begins
 * and how long that may take. Behind this time the lease is no longer renewed: a call that hangs must
 * not keep the creation from an invocation that could end it.
 */
import type { CreationId } from '../../core/ids.ts';
import { errorName } from '../error-name.ts';
import type { RenderServices } from '../services/render.ts';

/** Long enough for a renewal to be late, short enough that a crash is noticed within 30 s. */
export const leaseMillis = 6_000;
const renewMillis = 2_000;

export type Step = 'ask_providers' | 'store_image' | 'complete_creation';

export interface HeldLease {
  /** The renderer begins a step that may take so long. */
  begin(step: Step, mostMillis: number): void;
  /** Ends the renewals, the one on its way included. The lease itself runs out, or is given back. */
  release(): Promise<void>;
  /** Ends the renewals and the lease: the next invocation may begin at once. */
  giveBack(): Promise<void>;
}

export function holdLease(
  id: CreationId,
  holder: string,
  { clock, creations, log }: RenderServices,
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
  const stop = clock.every(renewMillis, () => {
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
