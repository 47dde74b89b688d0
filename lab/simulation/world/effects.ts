/** The effect of a call at its far end, and the answer that comes back. */
import { AwsError } from '../../../local/aws/aws-error.ts';
import { transactionCanceled } from '../../../local/dynamodb/refusals.ts';
import type { FaultKind } from './faults.ts';

/** An effect that takes some time at the far end. It happens when `finish` is called. */
export class Ongoing<Answer> {
  readonly finish: () => Answer;
  constructor(finish: () => Answer) {
    this.finish = finish;
  }
}

/** What a call does at its far end. Throws AwsError when the service refuses the call. */
export type Effect<Answer> = (fault: FaultKind | undefined) => Answer | Ongoing<Answer>;

/**
 * The result of a call: a text for the trace, and a function that returns the answer or throws the refusal.
 */
export interface Outcome<Answer> {
  readonly text: string;
  readonly answer: () => Answer;
}

/** The connection broke, so the caller cannot know whether the call took effect. */
class AnswerLost extends Error {
  override readonly name = 'TimeoutError';
  readonly code = 'ECONNRESET';
}

/** The caller stopped waiting. The effect may still happen. */
export class Aborted extends Error {
  override readonly name = 'AbortError';
}

/** The refusal of a call whose fault keeps it from having any effect; undefined for other faults. */
export function refusedAtTheDoor(service: string, fault: FaultKind | undefined): Outcome<never> | undefined {
  // Stripe itself refuses with an answer of its own.
  if (service === 'stripe') return undefined;
  switch (fault) {
    case 'error':
    case 'errors':
      return refusal(new AwsError('InternalServerError', 'simulated'));
    case 'throttle':
    case 'throttles':
      return refusal(
        new AwsError(
          service === 'dynamodb' ? 'ProvisionedThroughputExceededException' : 'ThrottlingException',
          'simulated',
        ),
      );
    case 'conflict':
    case 'conflicts':
      return refusal(new AwsError('TransactionConflictException', 'simulated'));
    case 'refused':
      return refusal(new AwsError('AccessDeniedException', 'simulated'));
    default:
      return undefined;
  }
}

/** Whether the call takes effect and its answer is lost. */
export function losesTheAnswer(fault: FaultKind | undefined): boolean {
  return (
    fault === 'lost' ||
    fault === 'all_lost' ||
    fault === 'lost_then_throttled' ||
    fault === 'lost_then_conflicts'
  );
}

/** The outcome of a call whose answer is lost. */
export function lost(text: string): Outcome<never> {
  return {
    text: `${text} (lost)`,
    answer: () => {
      throw new AnswerLost('the connection broke');
    },
  };
}

/**
 * Runs an effect. Rethrows every error that is not a refusal, because such an error is a defect of the
 * simulation.
 */
export function attempt<Answer>(effect: () => Answer): Outcome<Answer> {
  try {
    const answer = effect();
    return { text: 'ok', answer: () => answer };
  } catch (error) {
    if (error instanceof AwsError) return refusal(error);
    throw error;
  }
}

function refusal(error: AwsError): Outcome<never> {
  const reasons = error.fields['CancellationReasons'] as readonly { Code: string }[] | undefined;
  return {
    text: `${error.code}${reasons ? ` [${reasons.map(({ Code }) => Code).join(' ')}]` : ''}`,
    answer: () => {
      throw error;
    },
  };
}

/** A conflict as a transaction with this number of items reports it. */
export function conflictOf(count: number): AwsError {
  const conflict = { Code: 'TransactionConflict', Message: 'simulated' };
  return transactionCanceled(
    Array.from({ length: count }, (_, index) => (index === 0 ? conflict : { Code: 'None' })),
  );
}
