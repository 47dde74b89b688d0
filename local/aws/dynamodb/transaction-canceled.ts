import { AwsError } from '../aws-error.ts';

/** Why one item of a transaction was refused; `None` for an item that was not. */
export interface CancellationReason {
  readonly Code: string;
  readonly Message?: string;
  /** The item as it stood, where ReturnValuesOnConditionCheckFailure asked for it. */
  readonly Item?: Readonly<Record<string, unknown>>;
}

/** The error of a cancelled transaction; one reason an item, in the request's order. */
export function transactionCanceled(reasons: readonly CancellationReason[]): AwsError {
  const codes = reasons.map((reason) => reason.Code).join(', ');
  return new AwsError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    {
      fields: { CancellationReasons: reasons },
    },
  );
}
