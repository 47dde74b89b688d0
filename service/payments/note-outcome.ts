import type { Log } from '../values/runtime.ts';
import type { Hinted } from './payment-hint.ts';
import type { ToppedUp } from './top-up.ts';

/** Tells the operator by an alarm what a person must look at. Undefined: nobody knows the outcome. */
export function noteOutcome({ log }: { readonly log: Log }, outcome: Hinted | ToppedUp | undefined): void {
  if (outcome?.kind === 'held' && outcome.isNew) log.alarm('payment_held', { why: outcome.why });
  if (outcome?.kind === 'later' && outcome.why === 'key_refused') log.alarm('payment_key_refused');
}
