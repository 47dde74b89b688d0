/** What becomes of a call at its other end: its effect, and the answer that comes back. */
import type { FaultKind } from './faults.ts';
import { cancelled, Refused } from '../table/aws-refusal.ts';

/** An effect that takes its time at the other end: it happens when `finish` is called. */
export class Ongoing<Answer> {
  readonly finish: () => Answer;
  constructor(finish: () => Answer) {
    this.finish = finish;
  }
}

/** What a call does at its other end under a fault; throws Refused. */
export type Effect<Answer> = (fault: FaultKind | undefined) => Answer | Ongoing<Answer>;

/** What a call came to: words for the trace, and the answer, which is given or thrown. */
export interface Outcome<Answer> {
  readonly text: string;
  readonly answer: () => Answer;
}

/** The connection broke: nobody knows what happened. */
class AnswerLost extends Error {
  override readonly name = 'TimeoutError';
  readonly code = 'ECONNRESET';
}

/** The caller gave up. The effect may happen all the same. */
export class Aborted extends Error {
  override readonly name = 'AbortError';
}

/** The answer of a call that a fault refuses at the door, if it does: nothing happens. */
export function refusedAtTheDoor(service: string, fault: FaultKind | undefined): Outcome<never> | undefined {
  switch (fault) {
    case 'error':
    case 'errors':
      return refusal(new Refused('InternalServerError', 'simulated'));
    case 'throttle':
    case 'throttles':
      return refusal(
        new Refused(
          service === 'dynamodb' ? 'ProvisionedThroughputExceededException' : 'ThrottlingException',
          'simulated',
        ),
      );
    case 'conflict':
    case 'conflicts':
      return refusal(new Refused('TransactionConflictException', 'simulated'));
    case 'refused':
      return refusal(new Refused('AccessDeniedException', 'simulated'));
    default:
      return undefined;
  }
}

/** Whether the effect happens and its answer is lost on the way. */
export function losesTheAnswer(fault: FaultKind | undefined): boolean {
  return (
    fault === 'lost' ||
    fault === 'all_lost' ||
    fault === 'lost_then_throttled' ||
    fault === 'lost_then_conflicts'
  );
}

/** The outcome that its caller never hears of. */
export function lost(text: string): Outcome<never> {
  return {
    text: `${text} (lost)`,
    answer: () => {
      throw new AnswerLost('the connection broke');
    },
  };
}

/** Runs an effect. What is no Refused is a defect of the simulation, and thrown. */
export function attempt<Answer>(effect: () => Answer): Outcome<Answer> {
  try {
    const answer = effect();
    return { text: 'ok', answer: () => answer };
  } catch (error) {
    if (error instanceof Refused) return refusal(error);
    throw error;
  }
}

function refusal(error: Refused): Outcome<never> {
  const reasons = error.fields['CancellationReasons'] as readonly { Code: string }[] | undefined;
  return {
    text: `${error.code}${reasons ? ` [${reasons.map(({ Code }) => Code).join(' ')}]` : ''}`,
    answer: () => {
      throw error;
    },
  };
}

/** A conflict as a transaction of so many items words it. */
export function conflictOf(count: number): Refused {
  const conflict = { Code: 'TransactionConflict', Message: 'simulated' };
  return cancelled(Array.from({ length: count }, (_, index) => (index === 0 ? conflict : { Code: 'None' })));
}
