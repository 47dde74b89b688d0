/** Turns every error of a command into one sentence that says what to do. Only --debug prints the stack. */
import { isShed } from '../../service/aws/dynamodb/send.ts';
import { NewerCatalog } from '../../service/catalog/operator-catalog.ts';
import { NotSetUp } from '../../service/payments/payment-system.ts';
import { OutcomeUnknown, Overloaded } from '../../service/values/errors.ts';
import { OperatorError } from '../operator-error.ts';
import { isLostConnection } from '../persistence.ts';

export interface Complaint {
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** The sentence for the operator, and the further members of the JSON error. */
export function complaintOf(error: unknown): Complaint {
  if (error instanceof OperatorError) return { message: error.message, details: error.details };
  return { message: sentenceOf(error), details: {} };
}

function sentenceOf(error: unknown): string {
  if (error instanceof OutcomeUnknown) {
    return 'No answer says whether the change was made: look at it (`accounts show`, `wallet ledger`) before you repeat the command.';
  }
  if (error instanceof NotSetUp) return 'The key of Stripe is not set: run `payments set-stripe` first.';
  if (error instanceof NewerCatalog)
    return "A newer release has stored the operator's catalog: use the command of that release.";
  if (error instanceof Overloaded || isShed(error))
    return 'The table is too busy, and the change was not made: repeat the command in a moment.';
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  if (isLostConnection(error)) {
    return `The service did not answer (${text}): look whether the change was made, then repeat the command.`;
  }
  return `Something unexpected happened (${text}): check your AWS credentials and permissions; with --debug the command prints the stack.`;
}
