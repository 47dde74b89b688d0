/** Opens the fake of Stripe at its first request, or at the start of a machine that has used it. */
import { existsSync } from 'node:fs';
import { type Handler, targetOf } from '../http.ts';
import type { Schedule } from '../schedule.ts';
import type { StripeDoor, StripeDoorOptions } from './door.ts';

/** The path of the fake's API and pages. */
export const stripePath = '/_local/stripe';
/** What the service of a test machine is given, as `payments set-stripe` gives it what Stripe issues. */
export const localStripeKey = 'rk_test_of_this_machine';
export const localStripeSecret = 'whsec_of_this_machine';
/** The path of what happens at Stripe without a call. */
export const paymentsPath = '/_local/payments';

export interface LocalStripe {
  /** Answers the paths below `stripePath`, and `paymentsPath`. */
  readonly handle: Handler;
  /** The schedule, and what falls due at Stripe. */
  readonly join: (schedule: Schedule) => Schedule;
  /** Goes on with what an earlier start of the machine has left. */
  readonly begin: () => void;
  readonly close: () => void;
}

export function createLocalStripe(options: StripeDoorOptions): LocalStripe {
  let opening: Promise<void> | undefined;
  let door: StripeDoor | undefined;
  let isPaused = false;
  const open = async (): Promise<StripeDoor | undefined> => {
    opening ??= import('./door.ts').then(({ openStripeDoor }) => {
      door = openStripeDoor(options);
      if (!isPaused) door.start();
    });
    await opening;
    return door;
  };
  return {
    handle: async (incoming, outgoing) => {
      const opened = await open();
      const isControl = targetOf(incoming).path === paymentsPath;
      return isControl ? opened?.control(incoming, outgoing) : opened?.handle(incoming, outgoing);
    },
    join: (schedule) => ({
      ...schedule,
      start: () => {
        isPaused = false;
        schedule.start();
        door?.start();
      },
      pause: () => {
        isPaused = true;
        schedule.pause();
        door?.pause();
      },
      nextAt: (leastSeconds) => earliest(schedule.nextAt(leastSeconds), door?.nextAt()),
      fireDue: async () => {
        await Promise.all([schedule.fireDue(), door?.runDue()]);
      },
    }),
    begin: () => {
      if (existsSync(options.file)) void open();
    },
    close: () => door?.pause(),
  };
}

function earliest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
