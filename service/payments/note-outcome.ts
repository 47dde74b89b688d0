import type { Log } from '../values/runtime.ts';
import type { Hinted } from './payment-hint.ts';
import type { ToppedUp } from './top-up.ts';

/** Raises an alarm for what a person must check. Undefined: the outcome is unknown. */
export function noteOutcome({ log }: { readonly log: Log }, outcome: Hinted | ToppedUp | undefined): void {
  if (outcome?.kind === 'held' && outcome.isNew) log.alarm('payment_held', { why: outcome.why });
  if (outcome?.kind === 'later' && outcome.why === 'key_refused') log.alarm('payment_key_refused');
}
